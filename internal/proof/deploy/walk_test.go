//go:build proof && linux

package deploy_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// section is a section of the README, with its blocks of commands.
type section struct {
	title  string
	blocks []string
}

// sections returns the sections of the README. Each of its blocks is one of commands.
func sections(t *testing.T) []section {
	t.Helper()
	var all []section
	text := deployed(t, "README.md") + deployed(t, "postgresql.md") + deployed(t, "container.md")
	for _, part := range regexp.MustCompile(`(?m)^#+ `).Split(text, -1)[1:] {
		title, _, _ := strings.Cut(part, "\n")
		s := section{title: title}
		for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(part, -1) {
			if m[1] != "sh" {
				t.Errorf("%s: a block is of the language %q, which no test runs", title, m[1])
			}
			s.blocks = append(s.blocks, m[2])
		}
		all = append(all, s)
	}
	return all
}

// create has a shell function that creates an app with a title, and listApps, which sets apps to those that there are.
const create = `create() {
	curl -s --fail -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d "{\"title\":\"$1\",\"groups\":[\"urn:vitrine:example.test\"]}" http://127.0.0.1:8080/apps/
}
listApps() {
	apps=$(curl -s --fail -H "Authorization: Bearer $TOKEN" http://127.0.0.1:8080/apps/)
}
`

// scripted looks whether pages of other origins get scripts of components from a proxy.
const scripted = "curl -s --fail --cacert /etc/vitrine/tls/cert.pem --resolve apps.example.test:443:127.0.0.1 -D - " +
	"https://apps.example.test/scripts/a.js | grep -i '^access-control-allow-origin: [*]'"

// restored looks whether the copy is there, follows the page a second time after a change, and then restores each store
// that was put aside: none has lost anything.
const restored = `has() {
	listApps
	[[ $apps == *Before* && $apps == *"$1"* && $apps != *"$2"* ]]
}
restore() {
	systemctl stop vitrine
	sudo -u vitrine vitrine restore -db /var/lib/vitrine/vitrine.db "$1"
	systemctl start vitrine
}
has Before After
create Later
again
has Before Later
asides=(/var/lib/vitrine/vitrine.db.before-*)
[ ${#asides[@]} = 2 ]
restore "${asides[0]}"
has After Later
restore "${asides[1]}"
has Later After
[ "$(stat -c '%a %U' /var/lib/vitrine/vitrine.db)" = "600 vitrine" ]
[ "$(sudo sh -c 'ls /var/lib/vitrine | grep -c -e -wal$')" = 1 ]`

// around are what the walk does before and after the commands of a section, beside following the page.
var around = map[string][2]string{
	"nginx": {"mkdir -p /srv/vitrine/scripts; echo 'export {}' >/srv/vitrine/scripts/a.js", scripted},
	"Caddy": {"systemctl stop nginx; sed -i 's/# tls /tls /' deploy/Caddyfile",
		scripted + "; systemctl stop caddy; chgrp vitrine /etc/vitrine/tls/key.pem"},
	"HAProxy": {"", "systemctl stop haproxy"},
	"No proxy": {"cp /etc/vitrine/vitrine.env /srv/", // and back, with the settings of before
		"cmp /srv/vitrine.env /etc/vitrine/vitrine.env; systemctl start nginx"},
	"Deleted under the service": {"create Rescued; rm /var/lib/vitrine/vitrine.db*",
		`listApps; [[ $apps == *Rescued* ]]`},
	"When something is wrong": {"echo '127.0.0.1 apps.example.test' >>/etc/hosts", ""},
	"Backup":                  {"create Before", `curl -s http://127.0.0.1:9464/metrics | grep '^vitrine_last_copy_.* [1-9]'`},
	"Continuous backup":       {"create Moment", "sleep 2; systemctl stop vitrine-litestream"},
	"Restore to a point in time": {"", `listApps
[[ $apps == *Moment* ]]
rm -f /var/lib/vitrine/vitrine.db.before-*`},
	"Restore": {"create After", restored},
	"Move to PostgreSQL": {`create Moved
install -d /var/lib/prometheus/node-exporter
programs=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
install -d -o postgres /srv/postgres /var/run/postgresql
sudo -u postgres $programs/initdb -D /srv/postgres --auth-local=peer --auth-host=scram-sha-256 \
	--no-sync >/srv/postgres.log
server() { sudo -u postgres $programs/pg_ctl -D /srv/postgres -l /srv/postgres/log -w "$@" >>/srv/postgres.log; }
server -o '-k /var/run/postgresql' start`,
		`grep '^vitrine_last_copy_timestamp_seconds 1' /var/lib/prometheus/node-exporter/vitrine.prom
[ "$(stat -c '%a %U' /var/backups/vitrine/*.archive)" = "600 vitrine" ]
has() {
	listApps
	[[ $apps == *Moved* && $apps != *"$1"* ]]
}
create NotInTheArchive`},
	"Restore an archive": {"", "has NotInTheArchive"},
	"To a point in time": {"", `[ "$(ls /var/backups/postgresql/wal | wc -l)" -gt 1 ]`},
	"Restore a moment": {`create Moment
sleep 1
moment=$(date -u +'%F %T')
sleep 1
create TooLate
sudo -u postgres psql -c 'SELECT pg_switch_wal()'
install -d -o postgres /var/lib/postgresql /var/lib/postgresql/15
# the log comes slowly, so that the server answers before it has come to the moment
sed -i -e "s/^recovery_target_time.*/recovery_target_time = '$moment+00'/" -e "s/= 'cp /= 'sleep 1; cp /" \
	deploy/postgres/restore.conf`,
		`cmp /var/backups/vitrine/restored.archive "$(ls -t /var/backups/vitrine/*.archive | head -n 1)"
grep Moment /var/backups/vitrine/restored.archive
[ "$(grep -c TooLate /var/backups/vitrine/restored.archive)" = 0 ]
rm /var/backups/vitrine/restored.archive`},
	"Roll back on PostgreSQL": {`systemctl start vitrine-backup
install -m 0755 vitrine /usr/local/bin/
create NotInTheArchive`, `has NotInTheArchive
cmp /usr/local/bin/vitrine /usr/local/bin/vitrine.previous`},
	"Back to SQLite": {"create Back", `listApps
[[ $apps == *Moved* && $apps == *Back* ]]
sudo -u vitrine vitrine check -db /var/lib/vitrine/vitrine.db
[ "$(ls /var/lib/vitrine/*.key 2>/dev/null)" = "" ]
server stop`},
	"Change the key": {"truncate -s -1 /etc/vitrine/keys", `[ "$(grep -c . /etc/vitrine/keys)" = 1 ]`},
	"Upgrade": {"create Kept; echo >> vitrine", // another program, which runs as well
		`listApps; [[ $apps == *Kept* ]]`},
}

// The commands of the README run on a clean machine, in their order.
func TestTheREADMECanBeFollowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "curl", "openssl", "nginx", "caddy", "haproxy", "useradd", "setpriv"} {
		tool(t, name)
	}
	place := t.TempDir()
	release(t, place)
	var script strings.Builder
	script.WriteString("set -euo pipefail\ncd /srv\n" +
		"! command -v go >/dev/null || { echo 'there is Go on this machine'; exit 1; }\n" +
		"systemctl start nginx\n" + create) // as after apt-get install
	seen := map[string]bool{}
	litestream, err := exec.LookPath("litestream")
	if err == nil {
		err = exec.Command("cp", litestream, filepath.Join(place, "litestream")).Run()
	}
	for _, s := range sections(t) {
		if err != nil && (s.title == "Continuous backup" || s.title == "Restore to a point in time") {
			t.Logf("%s is not followed: %v", s.title, err)
			seen[s.title] = true
			continue
		} else if s.title == "Continuous backup" {
			s.blocks = append([]string{"cp /srv/litestream .; chmod +x litestream\n"}, s.blocks...)
		}
		fmt.Fprintf(&script, "echo '## %s'\n%s\n", s.title, around[s.title][0])
		for _, block := range s.blocks {
			block = strings.NewReplacer("linux_amd64", "linux_"+runtime.GOARCH, "\\\n", "",
				"2026-01-31", "$(date +%F)").Replace(block)
			for line := range strings.Lines(block) {
				fmt.Fprintf(&script, "echo '$ %s'\n%s", strings.ReplaceAll(strings.TrimSpace(line), "'", `'\''`), line)
			}
		}
		if n := len(s.blocks); n > 0 {
			fmt.Fprintf(&script, "again() {\n%s}\n", s.blocks[n-1])
		}
		fmt.Fprintf(&script, "%s\n", around[s.title][1])
		seen[s.title] = true
	}
	for title := range around {
		if !seen[title] {
			t.Errorf("the README has no section %q", title)
		}
	}
	script.WriteString("echo 'the end is reached'\n")
	write(t, filepath.Join(place, "script"), script.String())
	onOwnMachine(t, "walk", place)
}

// No page moves, copies or removes a store with its log by their names: the file and the log must stay together, and no
// log may come beside another file.
func TestNoPageHandlesTheFilesOfAStore(t *testing.T) {
	t.Parallel()
	pages := 0
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			if regexp.MustCompile(`\b(mv|cp|rm|ln|install)\b.*\.db(\*|\?|-|\{|\[)`).MatchString(line) {
				t.Errorf("%s: %s", name, line)
			}
		}
		pages++
		return err
	})
	if err != nil || pages < 10 {
		t.Errorf("%d pages: %v", pages, err)
	}
}

// release makes the two files that people download. `.ci/release-check` looks at a real one.
func release(t *testing.T, place string) {
	t.Helper()
	title := "vitrine_0.0.0_linux_" + runtime.GOARCH
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	w := tar.NewWriter(z)
	put := func(name, file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: title + "/" + name, Size: int64(len(text)),
			Mode: int64(info.Mode().Perm())}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	put("vitrine", binary(t))
	deploy := filepath.Join(root, "examples", "deploy")
	err := filepath.WalkDir(deploy, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			within, _ := filepath.Rel(deploy, name) // it is below
			put("deploy/"+filepath.ToSlash(within), name)
		}
		return err
	})
	if err := errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(place, title+".tar.gz"), out.String())
	write(t, filepath.Join(place, "SHA256SUMS"),
		fmt.Sprintf("%x  %s.tar.gz\n%x  vitrine_0.0.0_plan9_amd64.tar.gz\n", sha256.Sum256(out.Bytes()), title,
			sha256.Sum256(nil)))
}

// sudo runs a command as another user. The machine has no sudo, and its only user is root.
const sudo = `#!/bin/bash
[ "$1" = -u ] || exec "$@"
user=$2
shift 2
exec setpriv --reuid "$user" --regid "$user" --clear-groups "$@"
`

// systemctl starts what the units say, as their user and with their variables, and returns when vitrine says that it
// serves. Nothing else of systemd is tried here.
const systemctl = `#!/bin/bash
set -eu
[ "${2-}" != --now ] || set -- start "$3"
name=${2-}
log=/run/$name.log
pid=/run/$name.pid
case "$1 $name" in
daemon-reload* | enable* | *.timer) exit ;;
*" nginx") start=nginx; reload='nginx -s reload' ;;
*" caddy")
	start='as caddy caddy start --pidfile /run/caddy.pid --config /etc/caddy/Caddyfile'; reload=false
	[ -f /run/caddy.pid ] || install -o caddy /dev/null /run/caddy.pid
	install -d -o caddy /srv/caddy
	export HOME=/srv/caddy ;;
*" haproxy") start='haproxy -D -p /run/haproxy.pid -f /etc/haproxy/haproxy.cfg'; reload=false ;;
*" postgresql") sudo -u postgres $(ls -d /usr/lib/postgresql/*/bin | tail -n 1)/pg_ctl -D /srv/postgres -m fast -w restart >>/srv/postgres.log
	exit ;;
*) start= ;;
esac
units=/etc/systemd/system
# The user of a unit that may listen on port 443.
as() {
	exec setpriv --reuid "$1" --regid "$1" --clear-groups --inh-caps +net_bind_service \
		--ambient-caps +net_bind_service "${@:2}"
}
setting() {
	cat $units/$name.service $units/$name.service.d/*.conf 2>/dev/null | sed -n "s/^$1=//p" |
		awk '{ all = $0 == "" ? "" : all $0 "\n" } END { gsub("%%", "%", all); printf "%s", all }'
}
unit() {
	user=$(setting User)
	state=$(setting StateDirectory)
	[ -z "$state" ] || install -d -m "$(setting StateDirectoryMode)" -o "$user" "/var/lib/$state"
	set -a
	for file in $(setting EnvironmentFile); do . "$file"; done
	[ -z "$(setting AmbientCapabilities)" ] || as "$user" $(setting ExecStart)
	eval "exec setpriv --reuid $user --regid $user --clear-groups $(setting ExecStart)"
}
running() { [ -f $pid ] && [ -e "/proc/$(cat $pid)/exe" ]; } # nobody waits for what has ended
told() { grep -c "$1" $log || true; }
stop() {
	! running || kill "$(cat $pid)"
	while running; do sleep 0.01; done
}
start() {
	running && return
	if [ -n "$start" ]; then ($start); return; fi
	[ "$(setting Type)" != oneshot ] || { (unit); after=$(setting ExecStartPost); eval "${after#+}"; return; }
	: >$log
	(unit) >>$log 2>&1 &
	echo $! >$pid
	[ "$(setting Type)" = notify ] || return 0
	until grep -q ^serving $log; do running || { cat $log; exit 1; }; sleep 0.01; done
}
case $1 in
start | stop) $1 ;;
restart) stop; start ;;
show) cat /run/vitrine.pid ;;
reload)
	if ! running; then start
	elif [ -n "$start" ]; then $reload
	else
		before=$(told 'read again')
		kill -HUP "$(cat $pid)"
		until [ "$(told 'read again')" != "$before" ]; do sleep 0.01; done
	fi ;;
*) exit 1 ;;
esac
`

// podman looks at what it is given, since no container can be run on the machine.
const podman = `#!/bin/bash
set -eu
case $1 in
build) [ "$2 $3 $4 $5 $6" = "-t vitrine -f deploy/Containerfile ." ]; [ -x vitrine ]; [ -f deploy/Containerfile ];;
secret) [ -f "$4" ];;
volume) [ "$2" = inspect ]; echo /srv/volume;;
exec) [ "$2 $3" = "vitrine /usr/local/bin/vitrine" ];;
run)
	case $* in
	*" vitrine backup "*) mkdir /srv/volume; touch /var/backups/vitrine-container/vitrine-2026-01-31T030000Z.db;;
	*" vitrine restore "*) [ -f /srv/volume/copy.db ];;
	esac ;;
start | stop) [ "$2" = vitrine ];;
*) exit 1 ;;
esac
`

// walkInside follows the README, on a machine of its own.
func walkInside(place, top string) error {
	if err := clean(top); err != nil {
		return err
	}
	local := filepath.Join(top, "usr/local/bin")
	for name, text := range map[string]string{"systemctl": systemctl, "sudo": sudo, "podman": podman} {
		if err := os.WriteFile(filepath.Join(local, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(place, "*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if strings.HasPrefix(file, top) {
			continue
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(top, "srv", filepath.Base(file)), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	bash := &exec.Cmd{Path: "/bin/bash", Args: []string{"bash", "/srv/script"}, Dir: "/",
		SysProcAttr: &syscall.SysProcAttr{Chroot: top, Setsid: true},
		Env:         []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root"}}
	said, err := os.Create(filepath.Join(place, "said")) // a pipe would stay open as long as the proxies run
	if err != nil {
		return err
	}
	bash.Stdout, bash.Stderr = said, said
	err = bash.Run()
	out, readErr := os.ReadFile(said.Name())
	err = errors.Join(err, readErr, said.Close())
	fmt.Printf("%s", out)
	if err == nil && !bytes.Contains(out, []byte("the end is reached")) {
		err = errors.New("the script did not reach its end")
	}
	if err != nil {
		log, _ := os.ReadFile(filepath.Join(top, "run/vitrine.log")) // it may not have been started
		fmt.Printf("what vitrine has said:\n%s\n", log)
	}
	return err
}

// The image has what the README says of it: no root, a tree that nobody can write but /tmp and the volume, and a check
// of its health.
func TestContainer(t *testing.T) {
	t.Parallel()
	image := deployed(t, "Containerfile")
	for _, line := range []string{"FROM gcr.io/distroless/static-debian12:nonroot",
		"COPY vitrine /usr/local/bin/vitrine", "USER 65532:65532", "VOLUME /home/nonroot",
		`ENTRYPOINT ["/usr/local/bin/vitrine"]`, `CMD ["serve"]`} {
		if !slices.Contains(strings.Split(image, "\n"), line) {
			t.Errorf("the image does not have the line %q", line)
		}
	}
	if strings.Contains(image, "\nRUN ") || strings.Contains(image, "\nADD ") {
		t.Errorf("something is run or fetched to build the image:\n%s", image)
	}
	all := sections(t)
	at := slices.IndexFunc(all, func(s section) bool { return s.title == "Vitrine in a container" })
	// An image in the format of OCI has no check, so the command has the same one.
	instruction := regexp.MustCompile(
		`(?m)^HEALTHCHECK --interval=(\S+) --timeout=(\S+) --start-period=(\S+) CMD (.*)$`)
	check := instruction.FindStringSubmatch(image)
	if check == nil {
		t.Fatalf("the image has no check of its health:\n%s", image)
	}
	said := fmt.Sprintf("--health-cmd '%s' --health-interval %s --health-timeout %s --health-start-period %s",
		check[4], check[1], check[2], check[3])
	for _, flag := range []string{said, "--restart=always", "--read-only", "--cap-drop=all",
		"--security-opt=no-new-privileges", "--tmpfs /tmp", "-v vitrine:/home/nonroot", "-p 127.0.0.1:8080:8080"} {
		if at < 0 || !strings.Contains(all[at].blocks[0], flag+" ") {
			t.Errorf("the README does not run the container with %s", flag)
		}
	}
	place := t.TempDir()
	write(t, filepath.Join(place, "environment"), regexp.MustCompile(`(?m)^ENV (.*)$`).FindStringSubmatch(image)[1])
	program, err := os.ReadFile(binary(t))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(place, "vitrine"), string(program))
	if err := os.Chmod(place, 0o755); err != nil {
		t.Fatal(err)
	}
	onOwnMachine(t, "container", place)
}

// listens waits until a port can be connected to.
func listens(port string) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(end) {
			return err
		}
	}
}

// containerInside runs the program as the image does.
func containerInside(place, top string) error {
	const program, volume, user = "/usr/local/bin/vitrine", "/home/nonroot", 65532
	text, err := os.ReadFile(filepath.Join(place, "vitrine"))
	if err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(program), volume, "tmp"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(top+program, text, 0o755); err != nil {
		return err
	}
	for _, dir := range []string{"/tmp", volume} {
		if err := syscall.Mount("tmpfs", top+dir, "tmpfs", 0,
			fmt.Sprintf("mode=0755,uid=%d,gid=%d", user, user)); err != nil {
			return err
		}
	}
	if err := syscall.Mount("", top, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	environment, err := os.ReadFile(filepath.Join(place, "environment"))
	if err != nil {
		return err
	}
	run := func(args ...string) *exec.Cmd {
		return &exec.Cmd{Path: program, Args: append([]string{program}, args...), Dir: volume,
			Env:         strings.Fields(string(environment)),
			SysProcAttr: &syscall.SysProcAttr{Chroot: top, Credential: &syscall.Credential{Uid: user, Gid: user}}}
	}
	serve := run("serve")
	serve.Stderr = os.Stdout
	if err := serve.Start(); err != nil {
		return err
	}
	if err := listens("8080"); err != nil {
		return err
	}
	for _, args := range [][]string{{"healthz"}, {"token", "-urn", "urn:vitrine:example.test:user=x"},
		{"backup", volume + "/copy.db"}} {
		if out, err := run(args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, out)
		}
	}
	if out, err := run("backup", "/copy.db").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "read-only file system") {
		return fmt.Errorf("the tree can be written: %s, %v", out, err)
	}
	if err := serve.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := serve.Wait(); err != nil {
		return err
	}
	if out, err := run("healthz").CombinedOutput(); err == nil {
		return fmt.Errorf("healthz finds a server that has ended: %s", out)
	}
	return nil
}
