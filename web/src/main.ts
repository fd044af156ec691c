import './styles/tokens.css';
import './styles/base.css';
import {mount} from 'svelte';
import App from './App.svelte';
import {kept} from '$lib/kept';

const theme = kept<string>('theme', '');
if (theme) document.documentElement.dataset.theme = theme;
mount(App, {target: document.body});
