// The page in Vue.
import { onMounted, ref } from "vue";

export const Page = {
	props: ["script", "html", "attributes"],
	setup({ script }) {
		onMounted(() => import(script));
		return { lang: ref("en") };
	},
	template: `<main :lang="lang">
		<button @click="lang = 'de'">{{ lang }}</button>
		<div v-if="html" v-html="html"></div>
		<vitrine-app v-else v-bind="attributes" live>wait</vitrine-app>
	</main>`,
};
