package appsvc

// ForgetComponents empties the cache of components. It is no method, since a Session has all methods of a Service.
func ForgetComponents(s *Service) {
	s.components.mu.Lock()
	defer s.components.mu.Unlock()
	s.components.entries = nil
}
