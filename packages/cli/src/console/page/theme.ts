// Light or dark: the system's, unless the reader chose one. Colours are variables of the style sheet.
import { effect, signal } from '@preact/signals';

type Theme = 'auto' | 'light' | 'dark';

const storageName = 'outrigger-console-theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const stored = localStorage.getItem(storageName);

export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'auto');
/** Whether the page is dark now. */
export const isDark = signal(false);

const update = (): void => {
  isDark.value = theme.value === 'auto' ? prefersDark.matches : theme.value === 'dark';
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
};

/** Applies the theme, now and after each change. */
export function startTheme(): void {
  effect(update);
  prefersDark.addEventListener('change', update);
}

/** Chooses the next theme: the system's, light, dark. */
export function nextTheme(): void {
  theme.value = theme.value === 'auto' ? 'light' : theme.value === 'light' ? 'dark' : 'auto';
  localStorage.setItem(storageName, theme.value);
}
