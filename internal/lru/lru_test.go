package lru_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/vitrine-go/vitrine/internal/lru"
)

// model is a cache that moves everything by hand, the last used first.
type model struct {
	limit int
	list  [][3]int // key, value, size
}

func (m *model) find(key int) int {
	return slices.IndexFunc(m.list, func(e [3]int) bool { return e[0] == key })
}

func (m *model) remove(key int) (e [3]int, found bool) {
	i := m.find(key)
	if i < 0 {
		return e, false
	}
	e = m.list[i]
	m.list = slices.Delete(m.list, i, i+1)
	return e, true
}

func (m *model) size() (n int) {
	for _, e := range m.list {
		n += e[2]
	}
	return n
}

func (m *model) put(e [3]int) {
	m.remove(e[0])
	m.list = slices.Insert(m.list, 0, e)
	for m.size() > m.limit && len(m.list) > 1 {
		m.list = m.list[:len(m.list)-1]
	}
}

func TestTheLastUsedStay(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int{0, 10, 100} {
		c, m := lru.New[int, int](limit), model{limit: limit}
		for range 5000 {
			key := rng.IntN(20)
			switch rng.IntN(20) {
			case 0, 1, 2, 3, 4, 5, 6, 7:
				e := [3]int{key, rng.Int(), rng.IntN(30)}
				c.Put(e[0], e[1], e[2])
				m.put(e)
			default:
				got, found := c.Get(key)
				e, want := m.remove(key)
				if want {
					m.list = slices.Insert(m.list, 0, e)
				}
				if found != want || got != e[1] {
					t.Fatalf("limit %d: key %d has %d, %t; want %d, %t", limit, key, got, found, e[1], want)
				}
			}
			if c.Len() != len(m.list) || c.Size() != m.size() {
				t.Fatalf("limit %d: %d values of %d, want %d of %d", limit, c.Len(), c.Size(), len(m.list), m.size())
			}
		}
	}
}

func TestManyUseOneCache(t *testing.T) {
	const limit, keys = 10, 100
	c := lru.New[int, int](limit)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 20_000 {
				key := i % keys
				c.Put(key, key, 1)
				if got, found := c.Get(key); found && got != key {
					t.Errorf("key %d has %d", key, got)
				}
			}
		})
	}
	all.Wait()
	if c.Len() != c.Size() || c.Size() > limit {
		t.Errorf("%d values of %d, want as many, and at most %d", c.Len(), c.Size(), limit)
	}
}
