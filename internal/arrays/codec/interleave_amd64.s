#include "textflag.h"

// These functions use SSE2, which every amd64 processor has. DI is in dst, SI in plane 0, and CX counts the values that are left.

// func interleaveBy2(dst, src []byte, length, n int)
TEXT ·interleaveBy2(SB), NOSPLIT, $0-64
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ length+48(FP), R8
	MOVQ n+56(FP), CX

values:
	MOVOU     (SI), X0
	MOVOU     (SI)(R8*1), X1
	MOVO      X0, X2
	PUNPCKLBW X1, X0
	PUNPCKHBW X1, X2
	MOVOU     X0, (DI)
	MOVOU     X2, 16(DI)
	ADDQ      $16, SI
	ADDQ      $32, DI
	SUBQ      $16, CX
	JNZ       values
	RET

// func interleaveBy4(dst, src []byte, length, n int)
TEXT ·interleaveBy4(SB), NOSPLIT, $0-64
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ length+48(FP), R8
	MOVQ n+56(FP), CX
	LEAQ (SI)(R8*2), R9

values:
	MOVOU     (SI), X0
	MOVOU     (SI)(R8*1), X1
	MOVOU     (R9), X2
	MOVOU     (R9)(R8*1), X3
	MOVO      X0, X4
	PUNPCKLBW X1, X0         // bytes 0 and 1 of values 0 to 7
	PUNPCKHBW X1, X4         // and of values 8 to 15
	MOVO      X2, X5
	PUNPCKLBW X3, X2         // bytes 2 and 3
	PUNPCKHBW X3, X5
	MOVO      X0, X1
	PUNPCKLWL X2, X0         // values 0 to 3
	PUNPCKHWL X2, X1         // 4 to 7
	MOVO      X4, X3
	PUNPCKLWL X5, X4         // 8 to 11
	PUNPCKHWL X5, X3         // 12 to 15
	MOVOU     X0, (DI)
	MOVOU     X1, 16(DI)
	MOVOU     X4, 32(DI)
	MOVOU     X3, 48(DI)
	ADDQ      $16, SI
	ADDQ      $16, R9
	ADDQ      $64, DI
	SUBQ      $16, CX
	JNZ       values
	RET

// func interleaveBy8(dst, src []byte, length, n int)
TEXT ·interleaveBy8(SB), NOSPLIT, $0-64
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ length+48(FP), R8
	MOVQ n+56(FP), CX
	LEAQ (SI)(R8*2), R9
	LEAQ (R9)(R8*2), R10
	LEAQ (R10)(R8*2), R11

values:
	MOVQ      (SI), X0
	MOVQ      (SI)(R8*1), X1
	MOVQ      (R9), X2
	MOVQ      (R9)(R8*1), X3
	MOVQ      (R10), X4
	MOVQ      (R10)(R8*1), X5
	MOVQ      (R11), X6
	MOVQ      (R11)(R8*1), X7
	PUNPCKLBW X1, X0          // bytes 0 and 1 of values 0 to 7
	PUNPCKLBW X3, X2
	PUNPCKLBW X5, X4
	PUNPCKLBW X7, X6
	MOVO      X0, X1
	PUNPCKLWL X2, X0          // bytes 0 to 3 of values 0 to 3
	PUNPCKHWL X2, X1          // and of values 4 to 7
	MOVO      X4, X5
	PUNPCKLWL X6, X4          // bytes 4 to 7
	PUNPCKHWL X6, X5
	MOVO      X0, X2
	PUNPCKLLQ X4, X0          // values 0 and 1
	PUNPCKHLQ X4, X2          // 2 and 3
	MOVO      X1, X3
	PUNPCKLLQ X5, X1          // 4 and 5
	PUNPCKHLQ X5, X3          // 6 and 7
	MOVOU     X0, (DI)
	MOVOU     X2, 16(DI)
	MOVOU     X1, 32(DI)
	MOVOU     X3, 48(DI)
	ADDQ      $8, SI
	ADDQ      $8, R9
	ADDQ      $8, R10
	ADDQ      $8, R11
	ADDQ      $64, DI
	SUBQ      $8, CX
	JNZ       values
	RET
