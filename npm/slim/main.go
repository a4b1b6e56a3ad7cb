// Command slim makes a program that Go built for WebAssembly smaller when it is compressed.
//
//	slim FILE
//
// It writes the file again. The linker cuts the data at each run of eight zeros, and the hundred thousand places
// of the parts compress badly, so it cuts them only at long runs. And it drops what only stack traces read: files,
// lines, arguments and the places of inlined calls. Functions keep their names and offsets, with which a build
// of the same version that has these tables finds the lines.
//
// The tables are those of package runtime of Go 1.20 to 1.26. It refuses all others.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
)

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
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if file, err = slim(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, file, 0o644) //nolint:gosec // everybody may read it
}

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
			out, err = nil, errors.New("expected the tables of Go 1.20 to 1.26")
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

// What package runtime knows of functions: symtab.go, runtime2.go and internal/abi.
const (
	magic    = 0xfffffff1
	noOffset = ^uint32(0)

	pcFile, pcLine, unit, startLine = 20, 24, 32, 36 // fields of a _func
	pcDataCount, funcDataCount      = 28, 43
	funcSize                        = 44

	unsafePoint, inlineIndex, argumentsLive = 0, 2, 3 // indexes of PCDATA
	inlineTree, argumentInfo, argumentLive  = 3, 5, 6 // indexes of FUNCDATA
	inlinedCall                             = 16      // the size of an entry of an inline tree
	gofunc                                  = 320     // a field of moduledata
)

// dropTraces clears the tables that only stack traces read.
func dropTraces(memory []byte) error {
	u32 := func(at int) *uint32Field { return &uint32Field{memory, at} }
	u64 := func(at int) int { return int(binary.LittleEndian.Uint64(memory[at:])) }
	head := binary.LittleEndian.AppendUint32(nil, magic)
	table := bytes.Index(memory, append(head, 0, 0, 1, 8)) // the smallest instruction and the size of a pointer
	if table < 0 {
		return errors.New("expected the table of functions of Go 1.20 to 1.26")
	}
	count, units, files := u64(table+8), table+u64(table+40), table+u64(table+48)
	tables, functions := table+u64(table+56), table+u64(table+64)
	module := bytes.Index(memory, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, uint64(table)), uint64(table+u64(table+32))))
	fmt.Println(table, module, u64(module+296), u64(module+304), u64(module+312), u64(module+320), u64(module+328))
	pointed := u64(module + gofunc)

	// Equal tables are one table, so all that stay must be known before one is cleared.
	kept := make([]bool, functions-tables)
	keep := func(at uint32) {
		if at != 0 {
			end, _ := walk(memory[tables+int(at):])
			for i := range end {
				kept[int(at)+i] = true
			}
		}
	}
	for i := range count {
		f := functions + int(u32(functions+8*i+4).get())
		pcData := int(u32(f + pcDataCount).get())
		data := func(i int) *uint32Field { return u32(f + funcSize + 4*i) }
		keep(u32(f + 16).get()) // the depth of the stack
		for j := range pcData {
			switch j {
			case inlineIndex:
				if at := data(j).get(); at != 0 {
					_, most := walk(memory[tables+int(at):])
					if tree := data(pcData + inlineTree).get(); tree != noOffset {
						clear(memory[pointed+int(tree):][:inlinedCall*(most+1)])
					}
				}
				data(j).set(0)
			case unsafePoint, argumentsLive: // nothing interrupts WebAssembly
				data(j).set(0)
			default:
				keep(data(j).get())
			}
		}
		for j := range int(memory[f+funcDataCount]) {
			if slices.Contains([]int{inlineTree, argumentInfo, argumentLive}, j) {
				data(pcData + j).set(noOffset)
			}
		}
		for _, field := range []int{pcFile, pcLine, unit, startLine} {
			u32(f + field).set(0)
		}
	}
	for i := range kept {
		if !kept[i] {
			memory[tables+i] = 0
		}
	}
	clear(memory[units:tables]) // and the names of files
	_ = files
	return nil
}

// A uint32Field is a number in memory.
type uint32Field struct {
	memory []byte
	at     int
}

func (f *uint32Field) get() uint32  { return binary.LittleEndian.Uint32(f.memory[f.at:]) }
func (f *uint32Field) set(n uint32) { binary.LittleEndian.PutUint32(f.memory[f.at:], n) }

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
