// Command slim makes a program that Go built for WebAssembly smaller when it is compressed.
//
//	slim FILE
//
// It writes the file again. The linker cuts the data at each run of eight zeros, and the hundred thousand places
// of the parts compress badly, so it cuts them only at long runs. And it drops what only stack traces read: files,
// lines, arguments and the places of inlined calls. Functions keep their names and offsets, with which a build
// of the same version that has these tables finds the lines.
//
// It knows the tables of package runtime of one version of Go, which must be the version that builds it and the program.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
)

// known is the version of Go whose tables these are. After an update, compare symtab.go and runtime2.go of package
// runtime, and internal/abi/symtab.go.
const known = "go1.26"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: slim FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "slim:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	if !strings.HasPrefix(runtime.Version(), known) {
		return fmt.Errorf("expected %s, got %s", known, runtime.Version())
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if file, err = slim(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, file, 0o644) //nolint:gosec // everybody may read it
}

var errTables = errors.New("expected the tables of " + known)

// dataSection is the id of the section with the contents of the memory.
const dataSection = 11

// slim returns the file with another data section.
func slim(file []byte) (out []byte, err error) {
	const header = "\x00asm\x01\x00\x00\x00"
	if !bytes.HasPrefix(file, []byte(header)) {
		return nil, errors.New("expected WebAssembly")
	}
	defer func() {
		if recover() != nil { // an index that is out of range
			out, err = nil, errTables
		}
	}()
	out = []byte(header)
	for rest := file[len(header):]; len(rest) > 0; {
		id, after := rest[0], rest[1:]
		size, n := binary.Uvarint(after)
		body := after[n : n+int(size)]
		rest = after[n+int(size):]
		if id == dataSection {
			memory := load(body)
			if err := dropTraces(memory); err != nil {
				return nil, err
			}
			body = store(memory)
		}
		out = append(binary.AppendUvarint(append(out, id), uint64(len(body))), body...)
	}
	return out, nil
}

// load returns the memory that a data section fills.
func load(section []byte) []byte {
	var memory []byte
	count, n := binary.Uvarint(section)
	for section = section[n:]; count > 0; count-- {
		if !bytes.HasPrefix(section, []byte{0, i32Const}) {
			panic("another kind of segment")
		}
		at, n := signed(section[2:])
		section = section[2+n+1:] // without the end of the expression
		size, n := binary.Uvarint(section)
		end := int(at) + int(size)
		if end > len(memory) {
			memory = append(memory, make([]byte, end-len(memory))...)
		}
		copy(memory[at:], section[n:n+int(size)])
		section = section[n+int(size):]
	}
	return memory
}

// Instructions of the expressions that say where a segment is.
const (
	i32Const = 0x41
	end      = 0x0b
)

// gap is the number of zeros that compress worse than the place of another segment.
const gap = 256

// store returns the data section that fills a memory.
func store(memory []byte) []byte {
	var segments []byte
	count := 0
	for at := 0; at < len(memory); {
		if memory[at] == 0 {
			at++
			continue
		}
		size := len(memory) - at
		if i := bytes.Index(memory[at:], make([]byte, gap)); i >= 0 {
			size = i
		}
		segments = appendSigned(append(segments, 0, i32Const), int64(at))
		segments = binary.AppendUvarint(append(segments, end), uint64(size))
		segments = append(segments, memory[at:at+size]...)
		count++
		at += size
	}
	return append(binary.AppendUvarint(nil, uint64(count)), segments...)
}

// What package runtime knows of functions.
const (
	magic    = "\xf1\xff\xff\xff\x00\x00\x01\x08" // with the smallest instruction and the size of a pointer
	noOffset = 1<<32 - 1

	stackDepth, pcFile, pcLine, unit, startLine = 16, 20, 24, 32, 36 // fields of a _func
	pcDataCount, funcDataCount                  = 28, 43
	funcSize                                    = 44

	unsafePoint, inlineIndex, argumentsLive = 0, 2, 3 // indexes of PCDATA
	inlineTree, argumentInfo, argumentLive  = 3, 5, 6 // indexes of FUNCDATA
	inlinedCall                             = 16      // the size of an entry of an inline tree
	funcData                                = 320     // the field gofunc of moduledata
)

// dropTraces clears the tables that only stack traces read.
func dropTraces(memory []byte) error {
	get := func(at int) uint32 { return binary.LittleEndian.Uint32(memory[at:]) }
	set := func(at int, n uint32) { binary.LittleEndian.PutUint32(memory[at:], n) }
	long := func(at int) int { return int(binary.LittleEndian.Uint64(memory[at:])) }
	header := bytes.Index(memory, []byte(magic))
	if header < 0 {
		return errTables
	}
	field := func(i int) int { return long(header + 8*i) }
	names, units, tables, functions := header+field(4), header+field(5), header+field(7), header+field(8)
	begin := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(header)), uint64(names))
	module := bytes.Index(memory, begin)
	if module < 0 {
		return errTables
	}
	trees := long(module + funcData)

	// Equal tables are one table, so all that stay must be known before one is cleared.
	kept := make([]bool, functions-tables)
	keep := func(at uint32) {
		if at != 0 {
			size, _ := walk(memory[tables+int(at):])
			for i := range size {
				kept[int(at)+i] = true
			}
		}
	}
	for i := range field(1) {
		f := functions + int(get(functions+8*i+4))
		data := f + funcSize
		rest := data + 4*int(get(f+pcDataCount))
		keep(get(f + stackDepth))
		for j := range int(get(f + pcDataCount)) {
			at := data + 4*j
			if j == inlineIndex && get(at) != 0 {
				_, most := walk(memory[tables+int(get(at)):])
				clear(memory[trees+int(get(rest+4*inlineTree)):][:inlinedCall*(most+1)])
			}
			switch j {
			case unsafePoint, inlineIndex, argumentsLive: // nothing interrupts WebAssembly at an unsafe point
				set(at, 0)
			default:
				keep(get(at))
			}
		}
		for j := range int(memory[f+funcDataCount]) {
			if slices.Contains([]int{inlineTree, argumentInfo, argumentLive}, j) {
				set(rest+4*j, noOffset)
			}
		}
		for _, at := range []int{pcFile, pcLine, unit, startLine} {
			set(f+at, 0)
		}
	}
	for i, keep := range kept {
		if !keep {
			memory[tables+i] = 0
		}
	}
	clear(memory[units:tables]) // and the names of files
	return nil
}

// walk returns the length of a table of values by address, and its largest value.
func walk(table []byte) (length, most int) {
	value := -1
	for {
		delta, n := binary.Uvarint(table[length:])
		if delta == 0 && length > 0 {
			return length + n, most
		}
		length += n
		value += int(delta>>1) ^ -int(delta&1)
		most = max(most, value)
		_, n = binary.Uvarint(table[length:]) // for how many addresses
		length += n
	}
}

// signed reads a signed LEB128 number.
func signed(b []byte) (value int64, size int) {
	for shift := 0; ; shift += 7 {
		c := b[size]
		value |= int64(c&0x7f) << shift
		size++
		if c&0x80 == 0 {
			if c&0x40 != 0 {
				value |= -1 << (shift + 7)
			}
			return value, size
		}
	}
}

// appendSigned writes one.
func appendSigned(b []byte, value int64) []byte {
	for value > 0x3f || value < -0x40 {
		b = append(b, byte(value)|0x80)
		value >>= 7
	}
	return append(b, byte(value)&0x7f)
}
