#include "textflag.h"

// These functions use SSE2, which every amd64 processor has. A lane has 16 bits: one sum. X7 has the lower byte of each lane, and X6
// half the number of values. DI is in dst, SI in src, and CX counts the cells that are left.

// PAIRS adds the neighbours in each lane of row. It needs one register more.
#define PAIRS(row, more) \
	MOVO  row, more \
	PAND  X7, more \
	PSRLW $8, row \
	PADDW more, row

// func meanOfBytePairs4(dst, src unsafe.Pointer, y, n int)
TEXT ·meanOfBytePairs4(SB), NOSPLIT, $0-32
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    y+16(FP), R8
	MOVQ    n+24(FP), CX
	PCMPEQW X7, X7
	MOVO    X7, X6
	PSRLW   $8, X7
	PSRLW   $15, X6
	PSLLW   $1, X6
	ADDQ    SI, R8

cells:
	MOVOU    (SI), X0
	MOVOU    16(SI), X1
	MOVOU    (R8), X2
	MOVOU    16(R8), X3
	PAIRS(X0, X4)
	PAIRS(X1, X5)
	PAIRS(X2, X4)
	PAIRS(X3, X5)
	PADDW    X2, X0
	PADDW    X3, X1
	PADDW    X6, X0
	PADDW    X6, X1
	PSRLW    $2, X0
	PSRLW    $2, X1
	PACKUSWB X1, X0
	MOVOU    X0, (DI)
	ADDQ     $32, SI
	ADDQ     $32, R8
	ADDQ     $16, DI
	SUBQ     $16, CX
	JNZ      cells
	RET

// func meanOfBytePairs8(dst, src unsafe.Pointer, y, z, n int)
TEXT ·meanOfBytePairs8(SB), NOSPLIT, $0-40
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    y+16(FP), R8
	MOVQ    z+24(FP), R9
	MOVQ    n+32(FP), CX
	PCMPEQW X7, X7
	MOVO    X7, X6
	PSRLW   $8, X7
	PSRLW   $15, X6
	PSLLW   $2, X6
	LEAQ    (R8)(R9*1), R10
	ADDQ    SI, R8
	ADDQ    SI, R9
	ADDQ    SI, R10

cells:
	MOVOU    (SI), X0
	MOVOU    16(SI), X1
	MOVOU    (R8), X2
	MOVOU    16(R8), X3
	PAIRS(X0, X4)
	PAIRS(X1, X5)
	PAIRS(X2, X4)
	PAIRS(X3, X5)
	PADDW    X2, X0
	PADDW    X3, X1
	MOVOU    (R9), X2
	MOVOU    16(R9), X3
	PAIRS(X2, X4)
	PAIRS(X3, X5)
	PADDW    X2, X0
	PADDW    X3, X1
	MOVOU    (R10), X2
	MOVOU    16(R10), X3
	PAIRS(X2, X4)
	PAIRS(X3, X5)
	PADDW    X2, X0
	PADDW    X3, X1
	PADDW    X6, X0
	PADDW    X6, X1
	PSRLW    $3, X0
	PSRLW    $3, X1
	PACKUSWB X1, X0
	MOVOU    X0, (DI)
	ADDQ     $32, SI
	ADDQ     $32, R8
	ADDQ     $32, R9
	ADDQ     $32, R10
	ADDQ     $16, DI
	SUBQ     $16, CX
	JNZ      cells
	RET
