// Sends requests with the clients of providers, for TestClients. It is copied to the directory
// that setup-clients.sh has filled. Each line of its input is a JSON object with the name of an
// API, the address of a server, and the body of a request. It answers each with a line.
import { createInterface } from 'node:readline';
import OpenAI from 'openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';

const clients = {
	'openai-chat': url => {
		const client = new OpenAI({ apiKey: 'none', baseURL: url + '/v1', maxRetries: 0 });
		return async body => (await client.chat.completions.create(body)).choices[0].message.content;
	},
	'openai-responses': url => {
		const client = new OpenAI({ apiKey: 'none', baseURL: url + '/v1', maxRetries: 0 });
		return async body => (await client.responses.create(body)).output_text;
	},
	anthropic: url => {
		const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
		return async body => (await client.messages.create(body)).content[0].text;
	},
	gemini: url => {
		const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
		return async ({ contents, ...config }) => (await client.models.generateContent({ model: 'gemini-2.5-pro', contents, config })).text;
	},
};

const open = {};
for await (const line of createInterface({ input: process.stdin })) {
	const { api, url, body } = JSON.parse(line);
	const send = open[api] ??= clients[api](url);
	let answer;
	try {
		answer = { text: await send(JSON.parse(body)) };
	} catch (error) {
		answer = { status: error.status ?? 0, error: String(error.message) };
	}
	console.log(JSON.stringify(answer));
}
