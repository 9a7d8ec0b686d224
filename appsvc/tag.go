package appsvc

// Tag is a named pointer to a version of an app; it can be moved (contract, section 2.4).
type Tag struct {
	AppID      string
	Name       string
	AppVersion Version
}
