// Runs in the page that bench/console-filter.ts measures: how long its rows take to be those of a filter, from the last
// key or click on, and what moves meanwhile.

const shifts = []
new PerformanceObserver((list) => {
  for (const { startTime, value, hadRecentInput, sources } of list.getEntries()) {
    const moved = sources.map(({ node, previousRect, currentRect }) => {
      const { nodeName = '', className = '' } = node instanceof Element ? node : (node?.parentElement ?? {})
      return `${nodeName}.${className} from ${place(previousRect)} to ${place(currentRect)}`
    })
    shifts.push({ startTime, value, hadRecentInput, moved })
  }
}).observe({ type: 'layout-shift', buffered: true })

const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join(' ')

/** How long after the rows are shown something may still move. */
const afterMs = 600

/** How long the rows are waited for. */
const mostMs = 15_000

/** Whether the table has settled, each of its rows has one of the texts, and its count is the filter's. */
function isDone({ texts, total }) {
  const table = document.querySelector('main table.rows')
  if (table?.getAttribute('aria-busy') !== 'false') return false
  const rows = [...table.querySelectorAll('tbody tr')]
  if (!document.querySelector('main nav.pager')?.textContent.includes(total)) return false
  return rows.length > 0 && rows.every(({ textContent }) => texts.some((text) => textContent.includes(text)))
}

/** Begins to watch. The promise that it sets resolves once the rows are those of the filter and nothing moves any more. */
globalThis.watchFilter = (wanted) => {
  globalThis.watched = new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error(`not shown: ${JSON.stringify(wanted)}`)), mostMs)
    let began
    const begin = ({ timeStamp }) => {
      began ??= timeStamp
    }
    addEventListener('keydown', begin, { capture: true, once: true })
    addEventListener('pointerdown', begin, { capture: true, once: true })
    const look = () => {
      if (began === undefined || !isDone(wanted)) return requestAnimationFrame(look)
      // The frame is painted before a message is delivered.
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => {
        const shownMs = performance.now() - began
        const answer = performance
          .getEntriesByType('resource')
          .find(({ name, startTime }) => startTime >= began && name.includes(`${wanted.operation}?`))
        const [askedMs, answeredMs] = [answer?.startTime - began, answer?.responseEnd - began]
        setTimeout(() => {
          const seen = shifts.filter(({ startTime }) => startTime >= began)
          resolve({ askedMs, answeredMs, shownMs, seen })
        }, afterMs)
      }
      port2.postMessage(undefined)
    }
    requestAnimationFrame(look)
  })
}
