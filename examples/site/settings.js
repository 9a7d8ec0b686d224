// settings.js reads the environment.

/** @param {string} name */
export function setting(name) {
	const value = process.env[name];
	if (!value) throw new Error(`the environment has no ${name}`);
	return value;
}

/** The base URL of the service, without a slash at its end. */
export const server = () => setting("SERVER").replace(/\/+$/, "");
