/** In the order of detection: the user agent of each browser also contains the names of browsers further down. */
const browsers: [name: string, sign: RegExp][] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\/(\d+)/],
  ['Opera', /\bOPR\/(\d+)/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d+)/],
  ['Chrome', /\b(?:Headless)?(?:Chrome|CriOS)\/(\d+)/],
  ['Safari', /\bVersion\/(\d+).* Safari\//],
]

const systems: [name: string, sign: RegExp][] = [
  ['iOS', /iPhone|iPad/],
  ['Android', /Android/],
  ['HarmonyOS', /HarmonyOS|OpenHarmony/],
  ['Windows', /Windows/],
  ['macOS', /Mac OS X/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /Linux|X11/],
]

/** The browser and system of a user agent; for a program, its first word. */
export function readUserAgent(text: string): string {
  const browser = browsers.map(([name, sign]) => [name, sign.exec(text)?.[1]] as const).find(([, version]) => version)
  if (browser === undefined) return text.split(' ')[0] ?? text
  const system = systems.find(([, sign]) => sign.test(text))?.[0]
  return [browser.join(' '), system].filter(Boolean).join(' · ')
}
