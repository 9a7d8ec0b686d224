package format

import (
	"context"
	"strings"
	"testing"
)

func TestAPanicOfAWorkerReachesTheCaller(t *testing.T) {
	defer func() {
		if v, _ := recover().(string); !strings.Contains(v, "nil pointer") || !strings.Contains(v, "lineChecker") {
			t.Errorf("the panic came out as %q", v)
		}
	}()
	p := newPipeline(&Checker{ctx: context.Background()})
	j := p.job()
	j.check.fileOptions = nil
	j.data, j.batches = []byte(RightLine), make(chan []Result, 1)
	p.pending = append(p.pending, j)
	p.wait.Go(j.run)
	defer p.end()
	p.drain(0)
}
