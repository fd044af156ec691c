// `vite build` makes dist/, which the program carries; `make web-dev` serves src/ and passes what is asked of the API on to
// a server that runs (PAWL_URL).
import {svelte} from '@sveltejs/vite-plugin-svelte';
import {defineConfig} from 'vite';

const server = process.env.PAWL_URL ?? 'http://127.0.0.1:7295';
// The server answers pages of its own alone: what comes from here is sent on as if it were one.
const own = {target: server, changeOrigin: true, ws: true, headers: {Origin: server, 'Sec-Fetch-Site': 'same-origin'}};

export default defineConfig({
  plugins: [svelte()],
  resolve: {alias: {$lib: '/src/lib', $state: '/src/state', $parts: '/src/parts', $graph: '/src/graph'}},
  build: {target: 'es2022', modulePreload: {polyfill: false}, assetsInlineLimit: 0, chunkSizeWarningLimit: 2000},
  worker: {format: 'es'},
  server: {host: '127.0.0.1', proxy: {'/api': own}},
});
