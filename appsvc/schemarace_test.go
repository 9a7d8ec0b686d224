//go:build race

package appsvc

const raceEnabled = true
