package console

// Authenticator gives the browser a store of passkeys that answers for its person, as a phone does that is unlocked. It
// returns the store's id.
func (b *Browser) Authenticator() string {
	b.T.Helper()
	var id string
	b.must("POST", "/webauthn/authenticator",
		map[string]any{"protocol": "ctap2", "transport": "internal", "hasResidentKey": true,
			"hasUserVerification": true, "isUserConsenting": true, "isUserVerified": true}, &id)
	return id
}

// Passkeys returns how many passkeys a store has.
func (b *Browser) Passkeys(authenticator string) int {
	b.T.Helper()
	var all []any
	b.must("GET", "/webauthn/authenticator/"+authenticator+"/credentials", nil, &all)
	return len(all)
}

// ForgetPasskeys empties a store of passkeys.
func (b *Browser) ForgetPasskeys(authenticator string) {
	b.T.Helper()
	b.must("DELETE", "/webauthn/authenticator/"+authenticator+"/credentials", nil, nil)
}
