// The page in React and in Preact.
import { useEffect, useState } from "hooks";

export function Page({ script, html, attributes }) {
	const [lang, setLang] = useState("en");
	useEffect(() => void import(script), []);
	return (
		<main lang={lang}>
			<button onClick={() => setLang("de")}>{lang}</button>
			{html ? (
				<div dangerouslySetInnerHTML={{ __html: html }} suppressHydrationWarning />
			) : (
				<vitrine-app {...attributes} live>
					wait
				</vitrine-app>
			)}
		</main>
	);
}
