import './api/early.ts'
import { nextTask } from './browser/next-task.ts'
import { applyShade, isDarkIn, shade, systemIsDark } from './browser/shade.ts'
import { firstLanguage, showLanguage } from './language/first.ts'

// The only script that the page runs at first. The browser has the rest loaded by the links in the page, and runs it
// once it has shown the page's own content, which running it would delay.

showLanguage(firstLanguage())
applyShade(isDarkIn(shade.get(), systemIsDark.matches))
void start()

async function start(): Promise<void> {
  await shown()
  await import('./react.ts')
  await nextTask()
  await import('./start.tsx')
}

/** Resolves after the browser’s first drawing of the page; at once in a hidden tab, which the browser does not draw. */
function shown(): Promise<void> {
  return new Promise((resolve) => {
    if (document.visibilityState === 'hidden') resolve()
    // An animation frame comes before its drawing, and a timer that is set in it after.
    else requestAnimationFrame(() => setTimeout(resolve))
  })
}
