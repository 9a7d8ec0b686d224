package assets_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vitrine-go/vitrine/assets"
	"github.com/vitrine-go/vitrine/storage/memory"
)

// languages have posts, named a, b, c and so on, and queries with the posts that a reader of the language expects. A
// query with ~ before it allows for typos.
var languages = map[string]struct {
	posts   []string
	queries [][2]string
}{
	"English": {
		[]string{"The harbour at dawn, don't miss it", "Dawn over New York: the Harbor lights", "A new café in York",
			"Good morning ☀️ e-mail us at the harbour-master's", "#NewYork @harbour_news ½ price"},
		[][2]string{
			{"harbour", "ade"}, {"HARBOUR", "ade"}, {"harbor", "b"}, {"~harbor", "abde"}, {"~harbuor", "abde"},
			{"~arbour", ""}, {`"new york"`, "b"}, {"new york", "bc"}, {"york new", "bc"},
			{`"york new"`, ""}, {"cafe", "c"}, {"café", "c"}, {"new -york", ""}, {"dawn -harbour", "b"},
			{"harb*", "abde"}, {"harb* -dawn", "de"}, {"don't", "a"}, {`"don't miss"`, "a"},
			{"e-mail", "d"}, {"mail", "d"}, {"newyork", "e"}, {"#newyork", "e"}, {"@harbour_news", "e"}, {"1", "e"},
			{"☀", "d"}, {"~yrok", "bc"}, {"~lihgts", "b"}, {`"the harb*"`, "abd"},
			{"“good morning”", "d"}, {`york -"new york"`, "c"},
		},
	},
	"German": {
		[]string{"Straße am Fluß", "STRASSE AM SEE", "Die Mädchen hören Müller", "Donaudampfschifffahrt im Mai",
			"Münchner Oktoberfest"},
		[][2]string{
			{"strasse", "ab"}, {"straße", "ab"}, {"STRAẞE", "ab"}, {"fluss", "a"}, {"madchen", "c"}, {"Mädchen", "c"},
			{"müller", "c"}, {"muller", "c"}, {"donau*", "d"}, {"schifffahrt", ""},
			{`"am see"`, "b"}, {"„am Fluß“", "a"}, {"straße -see", "a"}, {"~strase", "ab"}, {"~oktoberfset", "e"},
			{"~oktoberfst", "e"}, {"munchner", "e"}, {`"im mai"`, "d"},
		},
	},
	"French": {
		[]string{"L'œuvre d'un cœur", "Les élèves à l'école", "Garçon, où est Noël ?", "Coeur de Paris",
			"Ça va bien aujourd’hui"},
		[][2]string{
			{"oeuvre", "a"}, {"œuvre", "a"}, {"ŒUVRE", "a"}, {"coeur", "ad"}, {"cœur", "ad"}, {"eleves", "b"},
			{"ÉLÈVES", "b"}, {"ecole", "b"}, {"l'école", "b"}, {"garcon", "c"}, {"noel", "c"},
			{"« coeur de »", "d"}, {"ca va", "e"}, {"aujourd'hui", "e"}, {`"d'un coeur"`, "a"}, {"coeur -paris", "a"},
			{"~garcno", "c"}, {"ou", "c"},
		},
	},
	"Spanish": {
		[]string{"Mañana hay música en el puerto", "El niño come piñas", "¿Dónde está el corazón?",
			"Pingüinos y cigüeñas", "el puerto de mañana"},
		[][2]string{
			{"mañana", "ae"}, {"manana", "ae"}, {"musica", "a"}, {"MÚSICA", "a"}, {"nino", "b"}, {"donde", "c"},
			{"¿dónde?", "c"}, {"corazon", "c"}, {"pinguinos", "d"}, {`"el puerto"`, "ae"},
			{`"puerto de"`, "e"}, {"puerto -música", "e"}, {"~peurto", "ae"}, {"pin*", "bd"}, {"cigueñas", "d"},
		},
	},
	"Turkish": {
		[]string{"İstanbul'da ılık bir akşam", "ISPARTA gülü", "ığdır ve İzmir", "çocuklar şeker yer"},
		[][2]string{
			{"istanbul", "a"}, {"İSTANBUL", "a"}, {"ılık", "a"}, {"ilik", "a"}, {"aksam", "a"}, {"akşam", "a"},
			{"isparta", "b"}, {"ısparta", "b"}, {"gulu", "b"}, {"igdir", "c"}, {"izmir", "c"},
			{"cocuklar", "d"}, {`"seker yer"`, "d"}, {"~istnabul", "a"}, {"istanbul'da", "a"},
		},
	},
	"Polish": {
		[]string{"Łódź jest piękna", "Żółw i źrebię", "Gdańsk, święto morza", "lodz nad morzem"},
		[][2]string{
			{"łódź", "ad"}, {"lodz", "ad"}, {"ŁÓDŹ", "ad"}, {"piekna", "a"}, {"zolw", "b"}, {"zrebie", "b"},
			{"gdansk", "c"}, {"swieto", "c"}, {"lodz -piękna", "d"}, {`"swieto morza"`, "c"},
			{"~gdasnk", "c"}, {"mor*", "cd"},
		},
	},
	"Russian": {
		[]string{"Ёлка в снегу", "елка и подарки", "Йод и йогурт", "Утро над гаванью", "Доброе утро, гавань!"},
		[][2]string{
			{"ёлка", "ab"}, {"елка", "ab"}, {"ЕЛКА", "ab"}, {"йод", "c"}, {"утро", "de"}, {`"доброе утро"`, "e"},
			{"«доброе утро»", "e"}, {"утро -доброе", "d"}, {"гаван*", "de"}, {"~гаваньб", "de"},
			{"~потарки", "b"}, {"~подраки", "b"}, {`"утро над"`, "d"}, {"снегу", "a"},
		},
	},
	"Greek": {
		[]string{"ΟΔΟΣ Ερμού", "η οδός του λιμανιού", "Καλημέρα Ελλάδα", "ὁδὸς παλαιά"},
		[][2]string{
			{"οδος", "abd"}, {"οδός", "abd"}, {"ΟΔΌΣ", "abd"}, {"ερμου", "a"}, {"λιμανιου", "b"}, {"καλημερα", "c"},
			{"ΚΑΛΗΜΈΡΑ", "c"}, {`"οδος του"`, "b"}, {"οδος -ερμου", "bd"}, {"~καλημρεα", "c"},
			{"ελλ*", "c"}, {"παλαια", "d"},
		},
	},
	"Arabic": {
		[]string{"صباح الخير يا مدينة", "كَتَبَ الطالِبُ", "كتب جديدة", "أحمد في المدينة", "مـــرحبا ﷲ"},
		[][2]string{
			{"كتب", "bc"}, {"كَتَبَ", "bc"}, {"الطالب", "b"}, {"احمد", "d"}, {"أحمد", "d"}, {"مرحبا", "e"},
			{"الله", "e"}, {`"صباح الخير"`, "a"}, {`"الخير صباح"`, ""}, {"كتب -جديدة", "b"},
			{"مدين*", "a"}, {"~مدنية", "a"}, {"المدينة", "d"},
		},
	},
	"Hebrew": {
		[]string{"שָׁלוֹם עוֹלָם", "שלום לכולם", "בית־ספר חדש", "בית ספר ישן"},
		[][2]string{
			{"שלום", "ab"}, {"שָׁלוֹם", "ab"}, {"עולם", "a"}, {`"שלום עולם"`, "a"}, {"שלום -עולם", "b"},
			{"בית-ספר", "cd"}, {`"בית ספר"`, "cd"}, {`"ספר חדש"`, "c"}, {"ספר -חדש", "d"}, {"לכו*", "b"},
			{"~שלםו", "ab"},
		},
	},
	"Hindi": {
		[]string{"नमस्ते दुनिया", "हिन्दी में लिखो", "हिंदी सीखो", "क़लम और कलम"},
		[][2]string{
			{"नमस्ते", "a"}, {"दुनिया", "a"}, {`"नमस्ते दुनिया"`, "a"}, {`"दुनिया नमस्ते"`, ""}, {"हिन्दी", "b"},
			{"हिंदी", "c"}, {"हि*", "bc"}, {"में", "b"}, {"मे", ""}, {"क़लम", "d"}, {"सीखो -हिन्दी", "c"},
			{"~नमसते", "a"},
		},
	},
	"Chinese": {
		[]string{"我爱北京天安门", "京北的风", "上海和北京", "中国银行", "银行在中国", "ＡＢＣ公司"},
		[][2]string{
			{"北京", "ac"}, {"京北", "b"}, {"京 北", "abc"}, {"天安门", "a"}, {"安门", "a"}, {"门安", ""}, {`"北京"`, "ac"},
			{"中国银行", "d"}, {"中国 银行", "de"}, {"银行 -中国银行", "e"}, {"北京 -上海", "a"},
			{"上海北京", ""}, {"abc公司", "f"}, {"ABC", "f"}, {"京*", "abc"}, {"北京*", "ac"}, {"\u2f00", ""}, {"⼤", ""},
		},
	},
	"Japanese": {
		[]string{"東京タワーに行く", "京東の店", "ｶﾞｽ東京", "コーヒーが好き", "ひらがなとカタカナ", "㍿東京"},
		[][2]string{
			{"東京", "acf"}, {"京東", "b"}, {"東京タワー", "a"}, {"タワー東京", ""}, {"ガス", "c"}, {"ｶﾞｽ", "c"}, {"カ\u3099ス", "c"},
			{"コーヒー", "d"}, {"ｺｰﾋｰ", "d"}, {"ひらがな", "e"}, {"カタカナ", "e"}, {"ひらカナ", ""},
			{"東京 -タワー", "cf"}, {"株式会社", "f"}, {"好き コーヒー", "d"},
		},
	},
	"Korean": {
		[]string{"서울의 봄", "서울 타워", "타워 서울", "한국은행", "\u1112\u1161\u11ab\u1100\u116e\u11a8 은행"},
		[][2]string{
			{"서울", "bc"}, {"서울*", "abc"}, {`"서울 타워"`, "b"}, {"서울 타워", "bc"}, {"한국", "e"}, {"한국*", "de"}, {"한국은행", "d"},
			{`"한국 은행"`, "e"}, {"타워 -서울", ""}, {"은행", "e"}, {"봄", "a"},
		},
	},
}

func TestReadersFindWhatTheyMean(t *testing.T) {
	store, n := memory.New(), 0
	for language, l := range languages {
		s, lib := assets.New(store, nil), assets.Library{Network: lib.Network, ID: language}
		var in assets.ChangeAssetsRequest
		for i, text := range l.posts {
			in.Add = append(in.Add, newAsset(string(rune('a'+i)), text))
		}
		if _, err := s.As(moderator).ChangeAssets(ctx, lib, in); err != nil {
			t.Fatal(err)
		}
		for _, q := range l.queries {
			n++
			query, typos := strings.CutPrefix(q[0], "~")
			page, err := s.As(moderator).Search(ctx, lib,
				assets.SearchRequest{Query: query, Typos: typos, Order: "asc"})
			found := ""
			for _, a := range page.Assets {
				var body struct{ Content struct{ ID string } }
				if err := json.Unmarshal(a.Body, &body); err != nil {
					t.Fatal(err)
				}
				found += body.Content.ID
			}
			if err != nil || found != q[1] || page.Total != int64(len(found)) {
				t.Errorf("%s: %s finds %q of %d, want %q (%v)", language, q[0], found, page.Total, q[1], err)
			}
		}
	}
	if n < 200 {
		t.Error(fmt.Sprint(n, " queries"))
	}
}
