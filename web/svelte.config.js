import {vitePreprocess} from '@sveltejs/vite-plugin-svelte';

export default {
  preprocess: vitePreprocess({script: true}),
  compilerOptions: {
    runes: true,
    // A dialog begins with what it was opened for; what changes meanwhile is not its business.
    warningFilter: warning => warning.code !== 'state_referenced_locally',
  },
};
