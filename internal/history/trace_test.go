package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// page is an app as a designer edits it.
type page struct {
	rand     *rand.Rand
	size     int // that it was made with
	title    string
	elements []string // JSON from the component on, without the id
	values   []string // of the fields of all elements, to be replaced
}

const fieldsPerElement = 6

func newPage(seed uint64, size int) *page {
	p := &page{rand: rand.New(rand.NewPCG(seed, 1)), size: size, title: "Landing page"}
	for len(p.body()) < size {
		p.insert(len(p.elements))
	}
	return p
}

func (p *page) body() []byte {
	var b strings.Builder
	fmt.Fprintf(&b,
		`{"title":%q,"owner":{"urn":"urn:vitrine:example.test:user=editor"},`+
			`"groups":["urn:vitrine:example.test:site=1"],"elements":[`, p.title)
	for i := range p.elements {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"%d",%s}`, i, p.element(i))
	}
	b.WriteString("]}")
	return []byte(b.String())
}

func (p *page) element(i int) string {
	var b strings.Builder
	b.WriteString(p.elements[i])
	b.WriteString(`,"config":{`)
	for j, name := range []string{"heading", "url", "limit", "colour", "collection", "note"} {
		if j > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s":"%s"`, name, p.values[i*fieldsPerElement+j])
	}
	b.WriteByte('}')
	return b.String()
}

func (p *page) words(n int) string {
	words := make([]string, n)
	for i := range words {
		word := make([]byte, 3+p.rand.IntN(6))
		for j := range word {
			word[j] = "etaoinshrdlucmfwypvbgkqjxz"[min(p.rand.IntN(26), p.rand.IntN(26))]
		}
		words[i] = string(word)
	}
	return strings.Join(words, " ")
}

func (p *page) value(field int) string {
	switch field {
	case 0:
		return p.words(3 + p.rand.IntN(4))
	case 1:
		return fmt.Sprintf("https://cdn.example.test/%016x.jpg", p.rand.Uint64())
	case 2:
		return fmt.Sprint(p.rand.IntN(1000))
	case 3:
		return fmt.Sprintf("#%06x", p.rand.IntN(1<<24))
	case 4:
		return fmt.Sprintf("%08x-%04x-4%03x", p.rand.Uint32(), p.rand.IntN(1<<16), p.rand.IntN(1<<12))
	}
	return p.words(12 + p.rand.IntN(16))
}

// The edits. Each returns the text that is new.

func (p *page) insert(at int) string {
	kind := p.rand.IntN(12)
	manifest := fmt.Sprintf(`"key":"%d.0","component":{"name":"@example/widget-%d","version":"1.%d.0",`+
		`"id":"%08x-0000-4000-8000-%012x","description":"Shows items of kind %d",`+
		`"main":"https://components.example.test/widget-%d/main.js",`+
		`"configSchema":{"type":"object","properties":{"heading":{"type":"string","maxLength":%d},`+
		`"url":{"type":"string"},"limit":{"type":"string"},"colour":{"type":"string"}}}}`,
		p.rand.IntN(1000), kind, kind, kind*0x1234567, kind*0x12345678901, kind, kind, 10*kind)
	p.elements = slices.Insert(p.elements, at, manifest)
	values := make([]string, fieldsPerElement)
	for i := range values {
		values[i] = p.value(i)
	}
	p.values = slices.Insert(p.values, at*fieldsPerElement, values...)
	return p.element(at)
}

func (p *page) remove(at int) {
	p.elements = slices.Delete(p.elements, at, at+1)
	p.values = slices.Delete(p.values, at*fieldsPerElement, (at+1)*fieldsPerElement)
}

func (p *page) move(from, to int) {
	element := p.elements[from]
	values := slices.Clone(p.values[from*fieldsPerElement : (from+1)*fieldsPerElement])
	p.remove(from)
	p.elements = slices.Insert(p.elements, to, element)
	p.values = slices.Insert(p.values, to*fieldsPerElement, values...)
}

func (p *page) set(field int) string {
	p.values[field] = p.value(field % fieldsPerElement)
	return p.values[field]
}

func (p *page) any() int {
	return p.rand.IntN(len(p.elements))
}

// A trace is one way of editing, over and over.
type trace struct {
	name string
	edit func(p *page, i int) (changed string)
}

func traces() []trace {
	return []trace{
		{"OneField", func(p *page, _ int) string {
			return p.set(p.any()*fieldsPerElement + []int{0, 2, 3}[p.rand.IntN(3)])
		}},
		{"SeveralFields", func(p *page, _ int) (changed string) {
			for range 5 {
				changed += p.set(p.any()*fieldsPerElement + []int{0, 2, 3}[p.rand.IntN(3)])
			}
			return changed
		}},
		{"InsertDelete", func(p *page, i int) string {
			if i%2 == 0 {
				return p.insert(p.any())
			}
			p.remove(p.any())
			return ""
		}},
		{"InsertFirst", func(p *page, _ int) string {
			p.remove(len(p.elements) - 1)
			return p.insert(0)
		}},
		{"Move", func(p *page, _ int) string {
			p.move(p.any(), p.any())
			return ""
		}},
		{"Reorder", func(p *page, _ int) string {
			for from := range p.elements {
				p.move(from, p.any())
			}
			return ""
		}},
		{"Rewrite", func(p *page, _ int) string {
			p.elements, p.values = nil, nil
			for len(p.body()) < p.size {
				p.insert(0)
			}
			return string(p.body())
		}},
	}
}
