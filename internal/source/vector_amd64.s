//go:build !purego

#include "go_asm.h"
#include "textflag.h"

// Each table has sixteen bytes that are indexed by half of a byte of the text. It is
// stored twice, for the two lanes of a register.

// For each low half: the byte in {}[]:, with that low half, or'ed with 0x20.
DATA marks<>+0(SB)/8, $0x0000000000000000
DATA marks<>+8(SB)/8, $0x00007d2c7b3a0000
DATA marks<>+16(SB)/8, $0x0000000000000000
DATA marks<>+24(SB)/8, $0x00007d2c7b3a0000
GLOBL marks<>(SB), RODATA|NOPTR, $32

// For each low half: the blank with that low half.
DATA blanks<>+0(SB)/8, $0x0000000000000020
DATA blanks<>+8(SB)/8, $0x00000d00000a0900
DATA blanks<>+16(SB)/8, $0x0000000000000020
DATA blanks<>+24(SB)/8, $0x00000d00000a0900
GLOBL blanks<>(SB), RODATA|NOPTR, $32

// The bytes that may follow a backslash, "/ \ bfn rtu, have a common bit in these two
// tables, which are indexed by the low half and by the high half.
DATA escapesLow<>+0(SB)/8, $0x00040808000d0000
DATA escapesLow<>+8(SB)/8, $0x0104000200000000
DATA escapesLow<>+16(SB)/8, $0x00040808000d0000
DATA escapesLow<>+24(SB)/8, $0x0104000200000000
GLOBL escapesLow<>(SB), RODATA|NOPTR, $32
DATA escapesHigh<>+0(SB)/8, $0x0804020000010000
DATA escapesHigh<>+8(SB)/8, $0x0000000000000000
DATA escapesHigh<>+16(SB)/8, $0x0804020000010000
DATA escapesHigh<>+24(SB)/8, $0x0000000000000000
GLOBL escapesHigh<>(SB), RODATA|NOPTR, $32

// The UTF-8 faults of two adjacent bytes, one bit for each fault. The tables are indexed
// by the high half of the first byte, its low half, and the high half of the second byte:
//
//	01 a continuation byte is missing              02 a continuation byte after ASCII
//	04 three bytes where two would do              08 beyond U+10FFFF
//	10 half of a surrogate pair                    20 two bytes where one would do
//	40 four where three would do, or beyond        80 two continuation bytes
//
// The last one is valid after the first of three or four bytes.
DATA utf1High<>+0(SB)/8, $0x0202020202020202
DATA utf1High<>+8(SB)/8, $0x4915012180808080
DATA utf1High<>+16(SB)/8, $0x0202020202020202
DATA utf1High<>+24(SB)/8, $0x4915012180808080
GLOBL utf1High<>(SB), RODATA|NOPTR, $32
DATA utf1Low<>+0(SB)/8, $0xcbcbcb8b8383a3e7
DATA utf1Low<>+8(SB)/8, $0xcbcbdbcbcbcbcbcb
DATA utf1Low<>+16(SB)/8, $0xcbcbcb8b8383a3e7
DATA utf1Low<>+24(SB)/8, $0xcbcbdbcbcbcbcbcb
GLOBL utf1Low<>(SB), RODATA|NOPTR, $32
DATA utf2High<>+0(SB)/8, $0x0101010101010101
DATA utf2High<>+8(SB)/8, $0x01010101babaaee6
DATA utf2High<>+16(SB)/8, $0x0101010101010101
DATA utf2High<>+24(SB)/8, $0x01010101babaaee6
GLOBL utf2High<>(SB), RODATA|NOPTR, $32

// Single bytes, to be broadcast to a register.
DATA byte05<>+0(SB)/1, $0x05
GLOBL byte05<>(SB), RODATA|NOPTR, $1
DATA byte09<>+0(SB)/1, $0x09
GLOBL byte09<>(SB), RODATA|NOPTR, $1
DATA byte0f<>+0(SB)/1, $0x0f
GLOBL byte0f<>(SB), RODATA|NOPTR, $1
DATA byte1f<>+0(SB)/1, $0x1f
GLOBL byte1f<>(SB), RODATA|NOPTR, $1
DATA byte20<>+0(SB)/1, $0x20
GLOBL byte20<>(SB), RODATA|NOPTR, $1
DATA quote<>+0(SB)/1, $0x22
GLOBL quote<>(SB), RODATA|NOPTR, $1
DATA digit0<>+0(SB)/1, $0x30
GLOBL digit0<>(SB), RODATA|NOPTR, $1
DATA slash<>+0(SB)/1, $0x5c
GLOBL slash<>(SB), RODATA|NOPTR, $1
DATA byte60<>+0(SB)/1, $0x60
GLOBL byte60<>(SB), RODATA|NOPTR, $1
DATA letterA<>+0(SB)/1, $0x61
GLOBL letterA<>(SB), RODATA|NOPTR, $1
DATA letterD<>+0(SB)/1, $0x64
GLOBL letterD<>(SB), RODATA|NOPTR, $1
DATA byte70<>+0(SB)/1, $0x70
GLOBL byte70<>(SB), RODATA|NOPTR, $1
DATA letterU<>+0(SB)/1, $0x75
GLOBL letterU<>(SB), RODATA|NOPTR, $1
DATA byte80<>+0(SB)/1, $0x80
GLOBL byte80<>(SB), RODATA|NOPTR, $1

// BITS collects the high bits of 64 bytes.
#define BITS(low, high, dst, tmp) \
	VPMOVMSKB low, dst; \
	VPMOVMSKB high, tmp; \
	SHLQ      $32, tmp; \
	ORQ       tmp, dst

// UTF8 sets a bit of R12 if there is a fault in now, or between now and the bytes before.
// It uses Y2, Y3, Y4, Y6 and AX.
#define UTF8(before, now) \
	VPERM2I128   $0x21, now, before, Y2; \
	VPALIGNR     $15, Y2, now, Y3; \
	VPSRLW       $4, Y3, Y4; \
	VPAND        Y7, Y4, Y4; \
	VMOVDQU      utf1High<>(SB), Y6; \
	VPSHUFB      Y4, Y6, Y4; \
	VPAND        Y7, Y3, Y3; \
	VMOVDQU      utf1Low<>(SB), Y6; \
	VPSHUFB      Y3, Y6, Y3; \
	VPAND        Y3, Y4, Y4; \
	VPSRLW       $4, now, Y3; \
	VPAND        Y7, Y3, Y3; \
	VMOVDQU      utf2High<>(SB), Y6; \
	VPSHUFB      Y3, Y6, Y3; \
	VPAND        Y3, Y4, Y4; \
	VPALIGNR     $14, Y2, now, Y3; \
	VPBROADCASTB byte60<>(SB), Y6; \
	VPSUBUSB     Y6, Y3, Y3; \
	VPALIGNR     $13, Y2, now, Y2; \
	VPBROADCASTB byte70<>(SB), Y6; \
	VPSUBUSB     Y6, Y2, Y2; \
	VPOR         Y2, Y3, Y3; \
	VPBROADCASTB byte80<>(SB), Y6; \
	VPAND        Y6, Y3, Y3; \
	VPXOR        Y3, Y4, Y4; \
	VPTEST       Y4, Y4; \
	SETNE        AX; \
	MOVBQZX      AX, AX; \
	ORQ          AX, R12

// HEX finds the hexadecimal digits in now. It uses Y2 and Y6.
#define HEX(now, dst) \
	VPBROADCASTB digit0<>(SB), Y2; \
	VPSUBB       Y2, now, Y2; \
	VPBROADCASTB byte09<>(SB), Y6; \
	VPMINUB      Y6, Y2, Y6; \
	VPCMPEQB     Y2, Y6, dst; \
	VPOR         Y12, now, Y2; \
	VPBROADCASTB letterA<>(SB), Y6; \
	VPSUBB       Y6, Y2, Y2; \
	VPBROADCASTB byte05<>(SB), Y6; \
	VPMINUB      Y6, Y2, Y6; \
	VPCMPEQB     Y2, Y6, Y6; \
	VPOR         Y6, dst, dst

// func classify(text *byte, n int, c *carry, out *block)
//
// SI is the text, CX the number of blocks left, and DI the output. R8 to R13 and Y5 hold
// the fields of c. R15 is never live across the use of a table, because dynamically
// linked code may use it to access the table.
TEXT ·classify(SB), NOSPLIT, $0-32
	MOVQ text+0(FP), SI
	MOVQ n+8(FP), CX
	MOVQ c+16(FP), DX
	MOVQ out+24(FP), DI
	MOVQ carry_escaped(DX), R8
	MOVQ carry_inString(DX), R9
	MOVQ carry_scalar(DX), R10
	MOVQ carry_hex(DX), R11
	MOVQ carry_bad(DX), R12
	MOVQ carry_high(DX), R13
	VMOVDQU carry_last(DX), Y5

	VPBROADCASTB slash<>(SB), Y15
	VPBROADCASTB quote<>(SB), Y14
	VPBROADCASTB byte1f<>(SB), Y13
	VPBROADCASTB byte20<>(SB), Y12
	VMOVDQU      marks<>(SB), Y11
	VMOVDQU      blanks<>(SB), Y10
	VMOVDQU      escapesLow<>(SB), Y9
	VMOVDQU      escapesHigh<>(SB), Y8
	VPBROADCASTB byte0f<>(SB), Y7
	VPCMPEQB     Y6, Y6, Y6

loop:
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1

	// Blocks of ASCII after ASCII are valid UTF-8.
	VPOR      Y0, Y1, Y2
	VPMOVMSKB Y2, AX
	MOVQ      R13, BX
	MOVQ      AX, R13
	ORQ       AX, BX
	JNZ       utf8

ascii:
	VMOVDQA Y1, Y5

	// AX: backslashes, DX: quotes.
	VPCMPEQB Y15, Y0, Y2
	VPCMPEQB Y15, Y1, Y3
	BITS(Y2, Y3, AX, BX)
	VPCMPEQB Y14, Y0, Y2
	VPCMPEQB Y14, Y1, Y3
	BITS(Y2, Y3, DX, BX)

	// BX: bytes after an unescaped backslash. Subtracting the starts of runs from the odd
	// bits borrows through each run to its end, and the parity shows which bytes are
	// escaped.
	MOVQ R8, BX
	NOTQ BX
	ANDQ AX, BX
	LEAQ (BX)(BX*1), R14
	MOVQ $0xaaaaaaaaaaaaaaaa, R15
	ORQ  R15, R14
	SUBQ BX, R14
	XORQ R15, R14
	MOVQ AX, BX
	ORQ  R8, BX
	XORQ R14, BX
	ANDQ AX, R14
	SHRQ $63, R14
	MOVQ R14, R8

	// DX: quotes that are not escaped. AX: bytes in strings, with the opening quote and
	// without the closing one, which is the parity of the quotes up to each byte.
	MOVQ       BX, R14
	NOTQ       R14
	ANDQ       R14, DX
	VMOVQ      DX, X2
	VPCLMULQDQ $0, X6, X2, X2
	VMOVQ      X2, AX
	XORQ       R9, AX
	MOVQ       AX, R9
	SARQ       $63, R9

	// Control characters in strings are bad.
	VPMINUB  Y13, Y0, Y2
	VPMINUB  Y13, Y1, Y3
	VPCMPEQB Y0, Y2, Y2
	VPCMPEQB Y1, Y3, Y3
	BITS(Y2, Y3, R14, R15)
	ANDQ     AX, R14
	ORQ      R14, R12

	MOVQ $0, block_halves(DI)
	ANDQ AX, BX
	MOVQ BX, R14
	ORQ  R11, R14
	JNZ  escapes

escaped:
	// A block completely inside a string has no structure.
	MOVQ AX, R14
	NOTQ R14
	ORQ  DX, R14
	JNZ  structure
	XORQ R10, R10
	MOVQ R10, block_tokens(DI)

next:
	ADDQ $64, SI
	ADDQ $block__size, DI
	DECQ CX
	JNZ  loop

	MOVQ c+16(FP), R15
	MOVQ R8, carry_escaped(R15)
	MOVQ R9, carry_inString(R15)
	MOVQ R10, carry_scalar(R15)
	MOVQ R11, carry_hex(R15)
	MOVQ R12, carry_bad(R15)
	MOVQ R13, carry_high(R15)
	VMOVDQU Y5, carry_last(R15)
	VZEROUPPER
	RET

structure:
	// BX: brackets, colons and commas, with some control characters.
	VPOR     Y12, Y0, Y2
	VPSHUFB  Y0, Y11, Y3
	VPCMPEQB Y2, Y3, Y2
	VPOR     Y12, Y1, Y4
	VPSHUFB  Y1, Y11, Y3
	VPCMPEQB Y4, Y3, Y4
	BITS(Y2, Y4, BX, R15)

	// R14: bytes that are neither these nor blank.
	VPSHUFB  Y0, Y10, Y3
	VPCMPEQB Y0, Y3, Y3
	VPSHUFB  Y1, Y10, Y4
	VPCMPEQB Y1, Y4, Y4
	BITS(Y3, Y4, R14, R15)
	ORQ      BX, R14
	NOTQ     R14

	// Only the first byte of a run of these is a token, and so is each opening quote.
	XORQ DX, AX
	NOTQ DX
	ANDQ R14, DX
	LEAQ (R10)(DX*2), R15
	MOVQ DX, R10
	SHRQ $63, R10
	NOTQ R15
	ANDQ R15, R14
	ORQ  BX, R14
	NOTQ AX
	ANDQ AX, R14
	MOVQ R14, block_tokens(DI)
	JMP  next

escapes:
	// Only some bytes may be escaped.
	VPSHUFB  Y0, Y9, Y2
	VPSRLW   $4, Y0, Y3
	VPAND    Y7, Y3, Y3
	VPSHUFB  Y3, Y8, Y3
	VPAND    Y3, Y2, Y2
	VPSHUFB  Y1, Y9, Y3
	VPSRLW   $4, Y1, Y4
	VPAND    Y7, Y4, Y4
	VPSHUFB  Y4, Y8, Y4
	VPAND    Y4, Y3, Y3
	VPXOR    Y4, Y4, Y4
	VPCMPEQB Y4, Y2, Y2
	VPCMPEQB Y4, Y3, Y3
	BITS(Y2, Y3, R14, R15)
	ANDQ     BX, R14
	ORQ      R14, R12

	// R14: each u of \u.
	VPBROADCASTB letterU<>(SB), Y2
	VPCMPEQB     Y2, Y0, Y3
	VPCMPEQB     Y2, Y1, Y4
	BITS(Y3, Y4, R14, R15)
	ANDQ         BX, R14
	MOVQ         R14, BX
	ORQ          R11, BX
	JZ           escaped

	// A d after it starts half of a surrogate pair if the next byte is 8 or greater.
	VPBROADCASTB letterD<>(SB), Y2
	VPOR         Y12, Y0, Y3
	VPOR         Y12, Y1, Y4
	VPCMPEQB     Y2, Y3, Y3
	VPCMPEQB     Y2, Y4, Y4
	BITS(Y3, Y4, BX, R15)
	VMOVQ        DX, X4
	MOVQ         c+16(FP), R15
	LEAQ         (R14)(R14*1), DX
	ORQ          carry_unicode(R15), DX
	ANDQ         DX, BX
	MOVQ         BX, block_halves(DI)
	MOVQ         R14, DX
	SHRQ         $63, DX
	MOVQ         DX, carry_unicode(R15)
	VMOVQ        X4, DX

	// Four hexadecimal digits must follow. R11: the bytes that must be digits.
	LEAQ (R14)(R14*1), BX
	ORQ  BX, R11
	SHLQ $1, BX
	ORQ  BX, R11
	SHLQ $1, BX
	ORQ  BX, R11
	SHLQ $1, BX
	ORQ  BX, R11
	HEX(Y0, Y3)
	HEX(Y1, Y4)
	VPCMPEQB Y6, Y6, Y6
	BITS(Y3, Y4, BX, R15)
	NOTQ BX
	ANDQ R11, BX
	ORQ  BX, R12
	MOVQ R14, R11
	SHRQ $63, R11
	MOVQ R14, BX
	SHRQ $62, BX
	ORQ  BX, R11
	MOVQ R14, BX
	SHRQ $61, BX
	ORQ  BX, R11
	SHRQ $60, R14
	ORQ  R14, R11
	JMP  escaped

utf8:
	UTF8(Y5, Y0)
	UTF8(Y0, Y1)
	VPCMPEQB Y6, Y6, Y6
	JMP      ascii
