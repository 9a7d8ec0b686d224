//go:build !race

package appsvc

const raceEnabled = false
