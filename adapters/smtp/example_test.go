package smtp_test

import (
	"context"
	"fmt"

	"github.com/vitrine-go/vitrine/adapters/signin"
	"github.com/vitrine-go/vitrine/adapters/smtp"
	"github.com/vitrine-go/vitrine/appsvc"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// A server that mails people what waits for them.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db := memory.New()
	send, err := smtp.New("smtps://robot%40host.example@mail.host.example:465", "the password", "host.example")
	if err != nil {
		fmt.Println(err)
		return
	}
	people, err := signin.New(db, signin.Options{BaseURL: "https://host.example", Mail: send})
	if err != nil {
		fmt.Println(err)
		return
	}
	apps := appsvc.New(db, &appsvc.Options{Rights: people.Rights, People: people.Namesakes})
	go people.SendMails(ctx, apps)
	fmt.Println(people.Origin())
	// Output: https://host.example
}
