//go:build proof && linux

package deploy_test

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// manager stands in for systemd on a machine of its own: it starts what units say, as the user that they name, with the
// variables of their files, waits until the service tells that it is ready, and stops and reloads it as they say.
type manager struct {
	top    string
	checks map[string]func(m *manager, args []string) (string, error) // what else the walk asks of it

	mu       sync.Mutex // held while a command is carried out
	services map[string]*service
	load     *load
}

// service is a process of the manager.
type service struct {
	cmd   *exec.Cmd
	log   journal
	ended chan struct{}
}

// journal is the output of a service.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// socketPath is where the manager answers, on its machine.
const socketPath = "/run/manager"

// said is what the manager answers to a command line.
type said struct {
	Text   string
	Status int
}

// askManager is the command systemctl on that machine.
func askManager(args []string) int {
	conn, err := net.Dial("unix", socketPath)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer conn.Close()
	var answer said
	if err := errors.Join(json.NewEncoder(conn).Encode(args), json.NewDecoder(conn).Decode(&answer)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(answer.Text)
	return answer.Status
}

// answer answers the commands, one after the other.
func (m *manager) answer(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		var args []string
		var answer said
		if err := json.NewDecoder(conn).Decode(&args); err == nil {
			if answer.Text, err = m.command(args); err != nil {
				answer.Text += fmt.Sprintf("%s: %v\n", strings.Join(args, " "), err)
				answer.Status = 1
			}
		}
		_ = errors.Join(json.NewEncoder(conn).Encode(answer), conn.Close()) // who has asked says so
	}
}

// command carries out a command line of systemctl.
func (m *manager) command(args []string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := slices.Contains(args, "--now")
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--now" })
	if len(args) == 0 {
		return "", errors.New("want a command")
	}
	if check := m.checks[args[0]]; check != nil {
		return check(m, args[1:])
	}
	if len(args) == 1 && args[0] == "daemon-reload" {
		return "", nil
	}
	if len(args) != 2 {
		return "", errors.New("want a command and a unit")
	}
	name := strings.TrimSuffix(args[1], ".service")
	switch args[0] {
	case "enable":
		if !now {
			return "", nil
		}
		return m.start(name)
	case "start":
		return m.start(name)
	case "stop":
		return "", m.stop(name)
	case "restart":
		if err := m.stop(name); err != nil {
			return "", err
		}
		return m.start(name)
	case "reload":
		return m.reload(name)
	}
	return "", fmt.Errorf("the manager of these tests does not know %q", args[0])
}

// packaged are the services of Debian's packages.
var packaged = map[string]map[string][]string{
	"nginx":   {"ExecStart": {"/usr/sbin/nginx -g daemon\u00a0off;"}, "ExecReload": {"/usr/sbin/nginx -s reload"}, "PIDFile": {"/run/nginx.pid"}},
	"caddy":   {"ExecStart": {"/usr/bin/caddy run --environ --config /etc/caddy/Caddyfile"}, "ExecReload": {"/usr/bin/caddy reload --config /etc/caddy/Caddyfile --force"}, "Port": {"443"}},
	"haproxy": {"ExecStart": {"/usr/sbin/haproxy -db -f /etc/haproxy/haproxy.cfg"}, "Port": {"443"}},
}

// unit returns the settings of the sections of a unit together, with those of its drop-ins.
func (m *manager) unit(name string) (map[string][]string, error) {
	if settings := packaged[name]; settings != nil {
		return settings, nil
	}
	if filepath.Ext(name) == "" {
		name += ".service"
	}
	file := filepath.Join(m.top, "etc/systemd/system", name)
	more, err := filepath.Glob(file + ".d/*.conf")
	if err != nil {
		return nil, err
	}
	settings := map[string][]string{}
	for _, file := range append([]string{file}, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		readUnit(string(text), settings)
	}
	return settings, nil
}

// readUnit adds the settings of a unit. An empty value takes back what was set before.
func readUnit(text string, settings map[string][]string) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			settings[name] = append(settings[name], value)
			if value == "" {
				settings[name] = nil
			}
		}
	}
}

func last(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[len(values)-1]
}

// start starts a service, or a timer, of which there is nothing to see.
func (m *manager) start(name string) (string, error) {
	unit, err := m.unit(name)
	if err != nil {
		return "", err
	}
	if filepath.Ext(name) == ".timer" {
		if len(unit["OnCalendar"]) == 0 {
			return "", errors.New("the timer has no time")
		}
		_, err := m.unit(strings.TrimSuffix(name, ".timer"))
		return "", err
	}
	if s := m.services[name]; s != nil {
		select {
		case <-s.ended:
		default:
			return "", nil // it runs
		}
	}
	s := &service{cmd: m.process(last(unit["ExecStart"])), ended: make(chan struct{})}
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	if err := m.asUnit(s.cmd, unit); err != nil {
		return "", err
	}
	ready := make(chan error, 1)
	if unit["Type"] != nil && last(unit["Type"]) == "notify" {
		if ready, err = m.notified(s.cmd, name); err != nil {
			return "", err
		}
	}
	if err := s.cmd.Start(); err != nil {
		return "", err
	}
	go func() {
		_ = s.cmd.Wait() // its status is looked at below
		close(s.ended)
	}()
	if last(unit["Type"]) == "oneshot" {
		<-s.ended
		if !s.cmd.ProcessState.Success() {
			return s.log.String(), errors.New(s.cmd.ProcessState.String())
		}
		return "", nil
	}
	m.services[name] = s
	switch port, file := last(unit["Port"]), last(unit["PIDFile"]); {
	case port != "":
		go func() { ready <- listens(port) }()
	case file != "":
		go func() {
			for _, err := os.Stat(m.top + file); err != nil; _, err = os.Stat(m.top + file) {
				time.Sleep(time.Millisecond)
			}
			ready <- nil
		}()
	}
	select {
	case err := <-ready:
		return "", err
	case <-s.ended:
		return s.log.String(), errors.New("the service has ended: " + s.cmd.ProcessState.String())
	case <-time.After(time.Minute):
		return s.log.String(), errors.New("the service is not ready after a minute")
	}
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

// process is a command line of a unit, whose words have a no-break space where they have a space.
func (m *manager) process(line string) *exec.Cmd {
	words := strings.Fields(strings.ReplaceAll(line, "\u00a0", "\x00"))
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "\x00", " ")
	}
	return &exec.Cmd{Path: words[0], Args: words, Dir: "/", SysProcAttr: &syscall.SysProcAttr{Chroot: m.top, Setsid: true},
		Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME=/root"}}
}

// asUnit makes a process run as the unit says.
func (m *manager) asUnit(cmd *exec.Cmd, unit map[string][]string) error {
	for _, file := range unit["EnvironmentFile"] {
		text, err := os.ReadFile(filepath.Join(m.top, file))
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				cmd.Env = append(cmd.Env, line)
			}
		}
	}
	user := last(unit["User"])
	if user == "" {
		return nil
	}
	uid, gid, err := account(m.top, user)
	if err != nil {
		return err
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	if slices.Contains(unit["AmbientCapabilities"], "CAP_NET_BIND_SERVICE") {
		cmd.SysProcAttr.AmbientCaps = []uintptr{10}
	}
	if state := last(unit["StateDirectory"]); state != "" {
		mode, err := strconv.ParseUint(last(unit["StateDirectoryMode"]), 8, 32)
		if err != nil {
			return err
		}
		dir := filepath.Join(m.top, "var/lib", state)
		return errors.Join(os.MkdirAll(dir, os.FileMode(mode)), os.Chown(dir, int(uid), int(gid)))
	}
	return nil
}

// notified gives a process a socket, and returns what yields when the process has said over it that it is ready.
func (m *manager) notified(cmd *exec.Cmd, name string) (chan error, error) {
	path := "/run/notify-" + name
	_ = os.Remove(m.top + path) // of an earlier start
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Net: "unixgram", Name: m.top + path})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(m.top+path, 0o777); err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+path)
	ready := make(chan error, 1)
	go func() {
		b := make([]byte, 1000)
		for {
			n, err := socket.Read(b)
			if err != nil {
				return
			}
			if slices.Contains(strings.Fields(string(b[:n])), "READY=1") {
				ready <- nil
			}
		}
	}()
	return ready, nil
}

// stop ends a service and waits until it has ended.
func (m *manager) stop(name string) error {
	s := m.services[name]
	if s == nil {
		return nil
	}
	delete(m.services, name)
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		return fmt.Errorf("%s does not stop: %s", name, s.log.String())
	}
	if status := s.cmd.ProcessState; name == "vitrine" && !status.Success() {
		return fmt.Errorf("%s: %s: %s", name, status, s.log.String())
	}
	return nil
}

// reload carries out the ExecReload of a service; one that does not run is started.
func (m *manager) reload(name string) (string, error) {
	s := m.services[name]
	unit, err := m.unit(name)
	if err != nil {
		return "", err
	}
	line := last(unit["ExecReload"])
	if s == nil || line == "" {
		if err := m.stop(name); err != nil {
			return "", err
		}
		return m.start(name)
	}
	before := strings.Count(s.log.String(), "read again")
	out, err := m.process(strings.ReplaceAll(line, "$MAINPID", strconv.Itoa(s.cmd.Process.Pid))).CombinedOutput()
	if err != nil || name != "vitrine" {
		return string(out), err
	}
	for end := time.Now().Add(time.Minute); strings.Count(s.log.String(), "read again") == before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return s.log.String(), errors.New("nothing was read again")
		}
	}
	return "", nil
}

// load sends requests through the proxy, all the time and from several clients, with the token that was given last.
type load struct {
	token            atomic.Value
	answered, failed atomic.Int64
	first            atomic.Value // the first failure
	stop             chan struct{}
	clients          sync.WaitGroup
}

// loaded starts the load, or gives it another token, and returns when clients have used it.
func loaded(m *manager, args []string) (string, error) {
	l := m.load
	if l == nil {
		l = &load{stop: make(chan struct{})}
		m.load = l
		for range 4 {
			l.clients.Go(l.run)
		}
	}
	l.token.Store(args[0])
	for from, end := l.answered.Load(), time.Now().Add(time.Minute); l.answered.Load() < from+50; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return "", errors.New("the clients do not go on")
		}
	}
	return "", nil
}

func (l *load) run() {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, ServerName: site}} // its bytes are known from other tests
	defer transport.CloseIdleConnections()
	for {
		select {
		case <-l.stop:
			return
		default:
		}
		token, _ := l.token.Load().(string)
		if token == "" {
			time.Sleep(time.Millisecond)
			continue
		}
		if err := ask(transport, token); err != nil {
			l.failed.Add(1)
			l.first.CompareAndSwap(nil, err.Error())
		}
		l.answered.Add(1)
	}
}

func ask(transport *http.Transport, token string) error {
	r, err := http.NewRequest("GET", "https://127.0.0.1/apps/?limit=5", nil)
	if err != nil {
		return err
	}
	r.Host = site
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
		return fmt.Errorf("%s, %w", answer.Status, err)
	}
	return nil
}

// unloaded ends the load. No request may have failed.
func unloaded(m *manager, _ []string) (string, error) {
	close(m.load.stop)
	m.load.clients.Wait()
	if n := m.load.failed.Load(); n > 0 {
		return "", fmt.Errorf("%d of %d requests failed: %v", n, m.load.answered.Load(), m.load.first.Load())
	}
	return fmt.Sprintf("%d requests, and none failed\n", m.load.answered.Load()), nil
}
