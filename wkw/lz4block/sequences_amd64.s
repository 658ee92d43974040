#include "go_asm.h"
#include "textflag.h"

// A stream of sequences has five registers: the next byte to write, the next byte to read, the start of the output, and
// the last bytes at which a sequence may start to write and to read. They are all of its state between sequences.

#define OUT0 DI
#define IN0 SI
#define START0 R10
#define OUTLAST0 R11
#define INLAST0 R12

#define OUT1 R8
#define IN1 R9
#define START1 R13
#define OUTLAST1 R14
#define INLAST1 R15

// Inside a sequence: the token, a length, the offset of the match, the address of the match, and the end of a copy.

#define TOKEN AX
#define LENGTH BX
#define OFFSET CX
#define FROM DX
#define END BP

// SEQUENCE decodes one sequence. The common case has no branch that depends on the data. It writes 16 bytes for up to
// 14 literals, and 16 bytes for a match of up to 16 bytes. If the match overlaps its own output, PSHUFB repeats it. More
// literals are copied at the label literals, which continues at offset. Longer matches are copied at match, which
// continues with the next sequence. A wrong match goes to wrong, which finds the start of the sequence again.
#define SEQUENCE(out, in, start, outLast, inLast, literals, offset, match, wrong) \
	CMPQ    in, inLast; \
	JHI     done; \
	CMPQ    out, outLast; \
	JHI     done; \
	MOVBLZX (in), TOKEN; \
	MOVOU   1(in), X0; \
	MOVL    TOKEN, LENGTH; \
	SHRL    $4, LENGTH; \
	CMPL    LENGTH, $const_longest; \
	JEQ     literals; \
	MOVOU   X0, (out); \
	MOVWLZX 1(in)(LENGTH*1), OFFSET; \
	LEAQ    3(in)(LENGTH*1), in; \
	ADDQ    LENGTH, out; \
offset: \
	MOVQ    out, FROM; \
	SUBQ    OFFSET, FROM; \
	MOVL    TOKEN, LENGTH; \
	ANDL    $const_longest, LENGTH; \
	CMPQ    FROM, start; \
	JCS     wrong; \
	CMPL    LENGTH, $(16-const_minMatch); \
	JHI     match; \
	MOVL    $16, BP; \
	CMPL    OFFSET, BP; \
	CMOVLCS OFFSET, BP; \
	SHLL    $4, BP; \
	JEQ     wrong; \
	MOVOU   (FROM), X0; \
	LEAQ    repeat<>(SB), DX; \
	PSHUFB  (DX)(BP*1), X0; \
	MOVOU   X0, (out); \
	LEAQ    const_minMatch(out)(LENGTH*1), out

// LITERALS copies 15 literals or more, 32 bytes at a time, and reads the offset after them.
#define LITERALS(out, in, outLast, inLast, more, copy) \
	MOVQ    out, sequenceOut-8(SP); \
	MOVQ    in, sequenceIn-16(SP); \
	LEAQ    1(in), FROM; \
more: \
	CMPQ    FROM, inLast; \
	JHI     done; \
	MOVBLZX (FROM), CX; \
	INCQ    FROM; \
	ADDQ    CX, LENGTH; \
	CMPL    CX, $255; \
	JEQ     more; \
	LEAQ    (FROM)(LENGTH*1), CX; \
	CMPQ    CX, inLast; \
	JHI     done; \
	LEAQ    (out)(LENGTH*1), END; \
	CMPQ    END, outLast; \
	JHI     done; \
	MOVQ    CX, in; \
copy: \
	MOVOU   (FROM), X0; \
	MOVOU   16(FROM), X1; \
	MOVOU   X0, (out); \
	MOVOU   X1, 16(out); \
	ADDQ    $32, FROM; \
	ADDQ    $32, out; \
	CMPQ    out, END; \
	JCS     copy; \
	MOVQ    END, out; \
	MOVWLZX (in), OFFSET; \
	ADDQ    $2, in

// MATCH copies a match of 17 bytes or more, 32 bytes at a time. If its offset is less than 16, it writes the largest
// multiple of the offset that 16 bytes have at a time.
#define MATCH(out, in, outLast, inLast, more, length, copy, overlap, spread, next, wrong) \
	MOVQ    in, matchIn-24(SP); \
	CMPL    LENGTH, $const_longest; \
	JNE     length; \
more: \
	CMPQ    in, inLast; \
	JHI     wrong; \
	MOVBLZX (in), BP; \
	INCQ    in; \
	ADDQ    BP, LENGTH; \
	CMPL    BP, $255; \
	JEQ     more; \
length: \
	LEAQ    const_minMatch(out)(LENGTH*1), END; \
	CMPQ    END, outLast; \
	JHI     wrong; \
	CMPL    OFFSET, $16; \
	JCS     overlap; \
copy: \
	MOVOU   (FROM), X0; \
	MOVOU   X0, (out); \
	MOVOU   16(FROM), X0; \
	MOVOU   X0, 16(out); \
	ADDQ    $32, FROM; \
	ADDQ    $32, out; \
	CMPQ    out, END; \
	JCS     copy; \
	MOVQ    END, out; \
	JMP     next; \
overlap: \
	TESTL   OFFSET, OFFSET; \
	JEQ     wrong; \
	MOVOU   (FROM), X0; \
	LEAQ    stride<>(SB), DX; \
	MOVBLZX (DX)(OFFSET*1), LENGTH; \
	SHLL    $4, OFFSET; \
	LEAQ    repeat<>(SB), DX; \
	PSHUFB  (DX)(OFFSET*1), X0; \
spread: \
	MOVOU   X0, (out); \
	ADDQ    LENGTH, out; \
	CMPQ    out, END; \
	JCS     spread; \
	MOVQ    END, out; \
	JMP     next

// BACK sets out and in from the end of a match's offset back to the start of its sequence.
#define BACK(out, in, far) \
	SHRL    $4, TOKEN; \
	CMPL    TOKEN, $const_longest; \
	JEQ     far; \
	SUBQ    TOKEN, out; \
	SUBQ    TOKEN, in; \
	SUBQ    $3, in; \
	JMP     done; \
far: \
	MOVQ    sequenceOut-8(SP), out; \
	MOVQ    sequenceIn-16(SP), in; \
	JMP     done

// func sequences(dst, src []byte, di, si int) (diEnd, siEnd int)
TEXT ·sequences(SB), NOSPLIT, $24-80
	MOVQ dst_base+0(FP), START0
	MOVQ dst_len+8(FP), OUTLAST0
	LEAQ -const_outputRoom(START0)(OUTLAST0*1), OUTLAST0
	MOVQ src_base+24(FP), IN0
	MOVQ src_len+32(FP), INLAST0
	LEAQ -const_inputRoom(IN0)(INLAST0*1), INLAST0
	MOVQ START0, OUT0
	ADDQ di+48(FP), OUT0
	ADDQ si+56(FP), IN0
	PCALIGN $32

next:
	SEQUENCE(OUT0, IN0, START0, OUTLAST0, INLAST0, literals, offset, match, wrong)
	JMP next

literals:
	LITERALS(OUT0, IN0, OUTLAST0, INLAST0, literalsMore, literalsCopy)
	JMP offset

match:
	MATCH(OUT0, IN0, OUTLAST0, INLAST0, matchMore, matchLength, matchCopy, matchOverlap, matchSpread, next, matchWrong)

matchWrong:
	MOVQ matchIn-24(SP), IN0

wrong:
	BACK(OUT0, IN0, wrongFar)

done:
	SUBQ dst_base+0(FP), OUT0
	SUBQ src_base+24(FP), IN0
	MOVQ OUT0, diEnd+64(FP)
	MOVQ IN0, siEnd+72(FP)
	RET

// func sequencesOfPair(dst0, src0, dst1, src1 []byte) (di0, si0, di1, si1 int)
TEXT ·sequencesOfPair(SB), NOSPLIT, $24-128
	MOVQ dst0_base+0(FP), OUT0
	MOVQ dst0_len+8(FP), OUTLAST0
	LEAQ -const_outputRoom(OUT0)(OUTLAST0*1), OUTLAST0
	MOVQ OUT0, START0
	MOVQ src0_base+24(FP), IN0
	MOVQ src0_len+32(FP), INLAST0
	LEAQ -const_inputRoom(IN0)(INLAST0*1), INLAST0
	MOVQ dst1_base+48(FP), OUT1
	MOVQ dst1_len+56(FP), OUTLAST1
	LEAQ -const_outputRoom(OUT1)(OUTLAST1*1), OUTLAST1
	MOVQ OUT1, START1
	MOVQ src1_base+72(FP), IN1
	MOVQ src1_len+80(FP), INLAST1
	LEAQ -const_inputRoom(IN1)(INLAST1*1), INLAST1
	PCALIGN $32

first:
	SEQUENCE(OUT0, IN0, START0, OUTLAST0, INLAST0, literals0, offset0, match0, wrong0)

second:
	SEQUENCE(OUT1, IN1, START1, OUTLAST1, INLAST1, literals1, offset1, match1, wrong1)
	JMP first

literals0:
	LITERALS(OUT0, IN0, OUTLAST0, INLAST0, literalsMore0, literalsCopy0)
	JMP offset0

match0:
	MATCH(OUT0, IN0, OUTLAST0, INLAST0, matchMore0, matchLength0, matchCopy0, matchOverlap0, matchSpread0, second, matchWrong0)

literals1:
	LITERALS(OUT1, IN1, OUTLAST1, INLAST1, literalsMore1, literalsCopy1)
	JMP offset1

match1:
	MATCH(OUT1, IN1, OUTLAST1, INLAST1, matchMore1, matchLength1, matchCopy1, matchOverlap1, matchSpread1, first, matchWrong1)

matchWrong0:
	MOVQ matchIn-24(SP), IN0

wrong0:
	BACK(OUT0, IN0, wrongFar0)

matchWrong1:
	MOVQ matchIn-24(SP), IN1

wrong1:
	BACK(OUT1, IN1, wrongFar1)

done:
	SUBQ dst0_base+0(FP), OUT0
	SUBQ src0_base+24(FP), IN0
	SUBQ dst1_base+48(FP), OUT1
	SUBQ src1_base+72(FP), IN1
	MOVQ OUT0, di0+96(FP)
	MOVQ IN0, si0+104(FP)
	MOVQ OUT1, di1+112(FP)
	MOVQ IN1, si1+120(FP)
	RET

// Row n of repeat is an operand of PSHUFB that repeats the first n bytes of 16. Row 0 is not used. Operands in memory must
// be aligned to 16 bytes. The linker aligns a symbol of this size.
DATA repeat<>+16(SB)/8, $0x0000000000000000
DATA repeat<>+24(SB)/8, $0x0000000000000000
DATA repeat<>+32(SB)/8, $0x0100010001000100
DATA repeat<>+40(SB)/8, $0x0100010001000100
DATA repeat<>+48(SB)/8, $0x0100020100020100
DATA repeat<>+56(SB)/8, $0x0002010002010002
DATA repeat<>+64(SB)/8, $0x0302010003020100
DATA repeat<>+72(SB)/8, $0x0302010003020100
DATA repeat<>+80(SB)/8, $0x0201000403020100
DATA repeat<>+88(SB)/8, $0x0004030201000403
DATA repeat<>+96(SB)/8, $0x0100050403020100
DATA repeat<>+104(SB)/8, $0x0302010005040302
DATA repeat<>+112(SB)/8, $0x0006050403020100
DATA repeat<>+120(SB)/8, $0x0100060504030201
DATA repeat<>+128(SB)/8, $0x0706050403020100
DATA repeat<>+136(SB)/8, $0x0706050403020100
DATA repeat<>+144(SB)/8, $0x0706050403020100
DATA repeat<>+152(SB)/8, $0x0605040302010008
DATA repeat<>+160(SB)/8, $0x0706050403020100
DATA repeat<>+168(SB)/8, $0x0504030201000908
DATA repeat<>+176(SB)/8, $0x0706050403020100
DATA repeat<>+184(SB)/8, $0x04030201000a0908
DATA repeat<>+192(SB)/8, $0x0706050403020100
DATA repeat<>+200(SB)/8, $0x030201000b0a0908
DATA repeat<>+208(SB)/8, $0x0706050403020100
DATA repeat<>+216(SB)/8, $0x0201000c0b0a0908
DATA repeat<>+224(SB)/8, $0x0706050403020100
DATA repeat<>+232(SB)/8, $0x01000d0c0b0a0908
DATA repeat<>+240(SB)/8, $0x0706050403020100
DATA repeat<>+248(SB)/8, $0x000e0d0c0b0a0908
DATA repeat<>+256(SB)/8, $0x0706050403020100
DATA repeat<>+264(SB)/8, $0x0f0e0d0c0b0a0908
GLOBL repeat<>(SB), RODATA|NOPTR, $272

// stride has the largest multiple of n up to 16, for each row n of repeat.
DATA stride<>+0(SB)/8, $0x0e0c0f100f101000
DATA stride<>+8(SB)/8, $0x0f0e0d0c0b0a0910
GLOBL stride<>(SB), RODATA|NOPTR, $16
