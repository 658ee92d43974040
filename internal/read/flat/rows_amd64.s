#include "textflag.h"

// func copyRows32(dst, src []byte, n, rows, dstStride, srcStride, ahead int)
//
// The last 32 bytes of a row overlap those before if n is not a multiple of 32.
TEXT ·copyRows32(SB), NOSPLIT, $0-88
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ n+48(FP), BX
	MOVQ rows+56(FP), CX
	MOVQ dstStride+64(FP), R8
	MOVQ srcStride+72(FP), R9
	MOVQ ahead+80(FP), R10
	ADDQ SI, R10
	LEAQ -32(BX), DX

row:
	XORL AX, AX

chunk:
	PREFETCHT0 (R10)(AX*1)
	MOVOU      (SI)(AX*1), X0
	MOVOU      16(SI)(AX*1), X1
	MOVOU      X0, (DI)(AX*1)
	MOVOU      X1, 16(DI)(AX*1)
	ADDQ       $32, AX
	CMPQ       AX, DX
	JLS        chunk
	CMPQ       AX, BX
	JEQ        next
	PREFETCHT0 31(R10)(DX*1)
	MOVOU      (SI)(DX*1), X0
	MOVOU      16(SI)(DX*1), X1
	MOVOU      X0, (DI)(DX*1)
	MOVOU      X1, 16(DI)(DX*1)

next:
	ADDQ R8, DI
	ADDQ R9, SI
	ADDQ R9, R10
	DECQ CX
	JNZ  row
	RET

// func gatherRows32(dst []byte, blocks [][]byte, src, n, rows, dstStride int) (done int)
//
// While the rows of a block are copied, those of the next block are prefetched. Rows of 32 bytes are copied two at a time: they are a line
// of the cache.
TEXT ·gatherRows32(SB), NOSPLIT, $0-88
	MOVQ  dst_base+0(FP), DI
	MOVQ  blocks_base+24(FP), R11
	MOVQ  blocks_len+32(FP), R14
	LEAQ  (R14)(R14*2), R15
	LEAQ  -24(R11)(R15*8), R15    // the last block
	MOVQ  src+48(FP), R12
	MOVQ  n+56(FP), BX
	MOVQ  rows+64(FP), R13
	MOVQ  dstStride+72(FP), R8
	MOVQ  R13, R9
	IMULQ BX, R9
	ADDQ  R12, R9                 // the length that a block needs

block:
	CMPQ    8(R11), R9
	JLT     done
	MOVQ    (R11), SI
	ADDQ    R12, SI
	LEAQ    24(R11), R10
	CMPQ    R10, R15
	CMOVQHI R15, R10
	MOVQ    (R10), R10
	ADDQ    R12, R10
	MOVQ    DI, DX
	MOVQ    R13, CX
	CMPQ    BX, $32
	JNE     row
	SUBQ    $2, CX
	JCS     last

pair:
	PREFETCHT0 (R10)
	MOVOU      (SI), X0
	MOVOU      16(SI), X1
	MOVOU      32(SI), X2
	MOVOU      48(SI), X3
	MOVOU      X0, (DX)
	MOVOU      X1, 16(DX)
	MOVOU      X2, (DX)(R8*1)
	MOVOU      X3, 16(DX)(R8*1)
	ADDQ       $64, SI
	ADDQ       $64, R10
	LEAQ       (DX)(R8*2), DX
	SUBQ       $2, CX
	JCC        pair

last:
	ADDQ $2, CX
	JEQ  next

row:
	XORL AX, AX

chunk:
	PREFETCHT0 (R10)(AX*1)
	MOVOU      (SI)(AX*1), X0
	MOVOU      16(SI)(AX*1), X1
	MOVOU      X0, (DX)(AX*1)
	MOVOU      X1, 16(DX)(AX*1)
	ADDQ       $32, AX
	CMPQ       AX, BX
	JCS        chunk
	ADDQ       R8, DX
	ADDQ       BX, SI
	ADDQ       BX, R10
	DECQ       CX
	JNZ        row

next:
	ADDQ $24, R11
	ADDQ BX, DI
	DECQ R14
	JNZ  block

done:
	MOVQ blocks_len+32(FP), AX
	SUBQ R14, AX
	MOVQ AX, done+80(FP)
	RET
