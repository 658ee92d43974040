#include "textflag.h"

// func copyRows32(dst, src []byte, n, rows, dstStride, srcStride, ahead int)
TEXT ·copyRows32(SB), NOSPLIT, $0-88
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ n+48(FP), BX
	MOVQ rows+56(FP), CX
	MOVQ dstStride+64(FP), R8
	MOVQ srcStride+72(FP), R9
	MOVQ ahead+80(FP), R10
	ADDQ SI, R10

row:
	XORL AX, AX

chunk:
	PREFETCHT0 (R10)(AX*1)
	MOVOU      (SI)(AX*1), X0
	MOVOU      16(SI)(AX*1), X1
	MOVOU      X0, (DI)(AX*1)
	MOVOU      X1, 16(DI)(AX*1)
	ADDQ       $32, AX
	CMPQ       AX, BX
	JCS        chunk
	ADDQ       R8, DI
	ADDQ       R9, SI
	ADDQ       R9, R10
	DECQ       CX
	JNZ        row
	RET
