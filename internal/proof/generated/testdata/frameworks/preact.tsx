/** @jsxImportSource preact */
// The element in Preact, rendered on a server.
import { renderToString } from "preact-render-to-string";
import type {} from "./vitrine.js";

const page = (
	<main>
		<vitrine-app class="wide" app="a1" tag="production" pageKey="pk_1" server="https://v.example" live>
			wait
		</vitrine-app>
		<vitrine-app app="a2" tag="production" page-key="pk_2" live={30} lang="de" />
		{/* @ts-expect-error: there is no such attribute */}
		<vitrine-app app="a3" pagesKey="pk_3" />
	</main>
);
export const html = renderToString(page);
