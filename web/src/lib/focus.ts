// A field that comes up because somebody asked for it has the focus, and what is in it can be typed over. (`autofocus` does so
// only where nothing else has the focus.)
export function takesFocus(field: HTMLInputElement): void {
  field.focus();
  field.select();
}
