package convert_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"github.com/vitrine-go/vitrine"
	"github.com/vitrine-go/vitrine/reviews/convert"
)

// bodies are texts as people of these languages write them.
var bodies = map[string][]string{
	"de":     {"Schöne Lampe, aber das Kabel ist für mich zu kurz", "Gefällt mir, würde ich wieder kaufen"},
	"fr":     {"Très bon produit, livraison rapide", "Je suis déçu par la qualité, l\u2019emballage était abîmé"},
	"it":     {"Buonissimo caffè, perché no", "La qualità è ottima"},
	"sv":     {"Jätte bra köp, mycket nöjd på alla sätt", "Tröjan är för stor"},
	"en":     {"“Great” – loved it…", "It’s fine, as in a café"},
	"hu":     {"Nagyon jó lámpa, mindenkinek ajánlom", "A minősége gyenge, nem működik megfelelően"},
	"ru":     {"Очень хорошая лампа, рекомендую всем", "Качество плохое, не работает"},
	"el":     {"Πολύ καλή λάμπα, τη συνιστώ σε όλους", "Η ποιότητα είναι κακή"},
	"ja":     {"とても良いランプです。おすすめします。", "品質が悪い、動かない。ありがとうございました"},
	"zh":     {"非常好的灯，推荐给大家", "质量很差，不能用，谢谢老板"},
	"ko":     {"아주 좋은 램프입니다 추천합니다", "품질이 나쁘고 작동하지 않아요"},
	"thanks": {"Спасибо большое", "Спасибо большое"},
	"pl": {"Bardzo dobra lampa, polecam każdemu. Świetny zakup, szybka przesyłka i miła obsługa.",
		"Nie działa, jakość jest słaba. Już po tygodniu żarówka się przepaliła, proszę o zwrot pieniędzy"},
}

func TestTheCharacterSetIsGuessedOrDoubtful(t *testing.T) {
	for _, c := range []struct {
		language, charset string
		note              string // "" if nothing is guessed; ? if it is doubtful
	}{
		{"de", "windows-1252", ""}, {"fr", "windows-1252", ""}, {"it", "windows-1252", ""}, {"sv", "windows-1252", ""},
		{"en", "windows-1252", ""}, {"hu", "iso-8859-2", "iso-8859-2"}, {"ru", "windows-1251", "windows-1251"},
		{"ru", "koi8-r", "koi8-r"}, {"el", "iso-8859-7", "iso-8859-7"}, {"ja", "shift_jis", "shift_jis"},
		{"ja", "euc-jp", "euc-jp"}, {"zh", "gbk", "gb18030"}, {"ko", "euc-kr", "euc-kr"},
		{"pl", "windows-1250", "windows-1250"}, {"thanks", "windows-1251", "?"},
		{"de", "utf-8", ""}, {"ja", "utf-8", ""},
	} {
		for _, form := range []string{"csv", "json"} {
			texts := bodies[c.language]
			var table strings.Builder
			table.WriteString("product_id,rating,date,name,text\n")
			for i, text := range texts {
				if form == "json" {
					table.Reset()
					table.WriteString(`[{"product_id":"p","rating":5,"date":"2024-01-02","name":"` + texts[0] +
						`","text":"` +
						text + `"}]`)
				} else {
					table.WriteString("p,5,2024-01-0" + string(rune('1'+i)) + `,N,"` + text + "\"\n")
				}
			}
			known, err := htmlindex.Get(c.charset)
			if err != nil {
				t.Fatal(err)
			}
			file, err := known.NewEncoder().String(table.String())
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			result, err := convert.Convert(t.Context(), convert.Request{File: strings.NewReader(file), To: &out})
			said := strings.Join(result.Notes, "\n")
			what := c.language + " in " + c.charset + " as " + form
			if c.note == "?" {
				if e, ok := errors.AsType[*vitrine.Error](err); !ok || e.Parameter != "charset" {
					t.Errorf("%s: %v, want it to be doubtful", what, err)
				}
				continue
			}
			if err != nil || !strings.Contains(out.String(), texts[1]) {
				t.Errorf("%s: %v\n%s", what, err, out.String())
			}
			if want := `charset: "` + c.note + `", guessed`; strings.Contains(said, "charset:") != (c.note != "") ||
				c.note != "" && !strings.Contains(said, want) {
				t.Errorf("%s: the notes are %s", what, said)
			}
		}
	}
	// A table in UTF-8 stays so if a few cells are not, and so does one that says that it is UTF-8.
	const head = "product_id,rating,date,name,text\np,5,2024-01-01,N,Schöne Lampe\n"
	for _, file := range []string{
		head + "p,5,2024-01-02,N,caf\xe9 tr\xe8s \xe9l\xe9gant d\xe9j\xe0 \xe0 c\xf4t\xe9\n",
		"\ufeff" + strings.Replace(head, "ö", "oe", 1) +
			"p,5,2024-01-02,N,\xcf\xf0\xe8\xe2\xe5\xf2 \xe2\xf1\xe5\xec \xf1\xef\xe0\xf1\xe8\xe1\xee\n",
	} {
		var out bytes.Buffer
		result, err := convert.Convert(t.Context(), convert.Request{File: strings.NewReader(file), To: &out})
		if said := strings.Join(result.Notes, "\n"); err != nil || strings.Contains(said, "charset:") ||
			!strings.Contains(said, "line 3 is not UTF-8") {
			t.Errorf("%v, %s\n%s", err, said, out.String())
		}
	}
}
