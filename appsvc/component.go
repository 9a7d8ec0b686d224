package appsvc

// Component is a version of something that can power an element (contract, section 2.3).
type Component struct {
	ID       string // unique among all components
	Name     string
	Version  string
	Main     string // URL of the script
	Manifest []byte // the whole component as one compact JSON object, as elements copy it
}
