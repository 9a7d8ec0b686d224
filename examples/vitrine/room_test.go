//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	process "github.com/vitrine-go/vitrine/internal/proof/program"
)

// On a disk that is nearly full files are refused, and what is removed makes room for others; on a full one all changes
// are. The server answers reads, and /healthz says that it refuses changes, until there is room.
func TestAFullDisk(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env, dir := []string{"VITRINE_KEY=0123456789abcdef0123456789abcdef"}, t.TempDir()
	token := newToken(t, dir, env)
	s, err := process.StartServer(append(env, programVariable+"=1"), "unshare", "--map-root-user", "--mount", "sh",
		"-c",
		`mount -t tmpfs -o size=48m none "$0" && exec "$@"`, dir, self, "serve", "-db", filepath.Join(dir, "v.db"),
		"-addr", "127.0.0.1:0")
	if err != nil && os.Getenv("VITRINE_CI") == "" {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer s.Kill()
	disk := filepath.Join("/proc", fmt.Sprint(s.Pid()), "root", dir)
	ask := func(method, path, kind, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(method, s.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", kind)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	health := func(want string) {
		t.Helper()
		var text string
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			status, now := ask("GET", "/healthz", "", "")
			if text = now; status != 200 {
				t.Fatalf("%d %s", status, text)
			}
			if text == want {
				out := run(t, dir, nil, "healthz", "-addr", strings.TrimPrefix(s.URL, "http://"))
				if out.status != 0 ||
					strings.Contains(out.stderr, "refuses changes, or files alone") != strings.Contains(want, "full") {
					t.Errorf("%+v", out)
				}
				return
			}
		}
		t.Fatalf("%s, want %s", text, want)
	}
	const library = "/services/frontline/api/v4/assetManager//example.test/assetLibrary/example.test"
	upload := func(name string, most int) (id string, status int) {
		status, text := ask("POST", library+"/files?name="+name, "application/pdf",
			"%PDF-1.4\n"+strings.Repeat(name, most))
		if found := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(text); status == 200 && found != nil {
			id = found[1]
		}
		return id, status
	}
	create := func() int {
		status, _ := ask("POST", "/apps/", "application/json", `{"title":"One","groups":["urn:vitrine:example.test"]}`)
		return status
	}
	const fine, full = `{"status":"ok"}`, `{"status":"ok","writes":"full"}`
	health(fine)
	other := t.TempDir() // on another disk
	inside := func(command ...string) (string, error) {
		c := exec.Command("nsenter", append([]string{"-t", fmt.Sprint(s.Pid()), "-U", "-m", "--preserve-credentials",
			self}, command...)...)
		c.Env = append(env, programVariable+"=1")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	copied := filepath.Join(other, "copy.db")
	if said, err := inside("backup", "-db", filepath.Join(dir, "v.db"), copied); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	filling := filepath.Join(disk, "filling")
	filler, err := os.Create(filling)
	if err == nil {
		_, err = io.CopyN(filler, strings.NewReader(strings.Repeat("full", 13<<20)), 52<<20)
	}
	if !errors.Is(err, syscall.ENOSPC) || filler.Close() != nil {
		t.Fatalf("the disk is not full: %v", err)
	}
	for n := 0; create() != 507; n++ {
		if n > 1000 {
			t.Fatal("a full disk takes everything")
		}
	}
	health(full)
	for _, command := range [][]string{{"backup", "-db", filepath.Join(dir, "v.db"), filepath.Join(dir, "copy.db")},
		{"restore", "-db", filepath.Join(dir, "restored.db"), copied}} {
		said, err := inside(command...)
		if err == nil || !strings.Contains(said, "there is no room for a copy on the disk of "+dir) {
			t.Errorf("%s on a full disk: %v: %s", command[0], err, said)
		}
	}
	if err := os.Remove(filling); err != nil {
		t.Fatal(err)
	}
	health(fine)
	if status := create(); status != 201 {
		t.Errorf("creating when there is room: %d", status)
	}
	var ids []string
	for n := 0; ; n++ {
		id, status := upload(fmt.Sprintf("file%d.pdf", n), 100_000)
		if status == 507 && n > 3 {
			break
		}
		if status != 200 || n > 50 {
			t.Fatalf("file %d: %d", n, status)
		}
		ids = append(ids, id)
	}
	health(full)
	pdf := filepath.Join(other, "large.pdf")
	if err := os.WriteFile(pdf, []byte("%PDF-1.4\n"+strings.Repeat("large", 20_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := inside("assets", "import", "-db", filepath.Join(dir, "v.db"), "-network", "example.test",
		pdf); err == nil || !strings.Contains(said, "the disk is nearly full") {
		t.Errorf("an import when files are refused: %v: %s", err, said)
	}
	if status, _ := ask("GET", "/apps/", "", ""); status != 200 {
		t.Errorf("reading when files are refused: %d", status)
	}
	if status := create(); status != 201 {
		t.Errorf("creating an app when files are refused: %d", status)
	}
	remove := `{"remove":["` + strings.Join(ids[:len(ids)/2], `","`) + `"]}`
	if status, text := ask("POST", library+"/assets", "application/json", remove); status != 200 {
		t.Fatalf("removing: %d %s", status, text)
	}
	taken, err := os.Create(filepath.Join(disk, "taken"))
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Second) { // the bytes are deleted a few seconds later
		// The disk has no more room than before, since the file of the store does not shrink, and the log gives none.
		var room syscall.Statfs_t
		if err := syscall.Statfs(disk, &room); err != nil {
			t.Fatal(err)
		}
		if _, err := taken.Write(make([]byte, max(0, int64(room.Bavail)*room.Bsize-18<<20))); err != nil {
			t.Fatal(err)
		}
		if _, status := upload("later.pdf", 100_000); status == 200 {
			break
		} else if time.Now().After(end) {
			t.Fatalf("nothing can be added after files were removed: %d", status)
		}
	}
	health(fine)
}

// A service whose file is gone takes no changes that would be lost, and says so.
func TestAStoreIsRemovedUnderTheService(t *testing.T) {
	dir := t.TempDir()
	env := []string{"VITRINE_KEY=0123456789abcdef0123456789abcdef"}
	token, s := newToken(t, dir, env), start(t, dir, env, "-db", "v.db")
	s.do(token, "POST", "/apps/", `{"title":"a","groups":["urn:vitrine:example.test"]}`, 201)
	if err := os.Rename(filepath.Join(dir, "v.db"), filepath.Join(dir, "aside")); err != nil {
		t.Fatal(err)
	}
	s.do(token, "POST", "/apps/", `{"title":"b","groups":["urn:vitrine:example.test"]}`, 503)
	s.do("", "GET", "/healthz", "", 503)
	s.logs("was removed or replaced while it was open")
	if err := os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, "v.db")); err != nil {
		t.Fatal(err)
	}
	s.do("", "GET", "/healthz", "", 200)
	s.do(token, "POST", "/apps/", `{"title":"b","groups":["urn:vitrine:example.test"]}`, 201)
}
