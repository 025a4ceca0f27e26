import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './try-operation.css'

// What is tried is sent from here to this service, with a token that one enters or with the session of the console.

interface Ui {
  authSelectors: { authorized(): { toJS(): object } }
  authActions: { authorize(given: object): void }
}
interface System {
  React: { createElement(type: string, props: null, ...children: unknown[]): unknown }
}
type Description = { paths: Record<string, Record<string, object>> }

let description: Promise<Description> | undefined
let newest: Ui | undefined

const nothing = () => () => null

/** An operation's path without a link, because it stands in the button that opens the operation. */
const pathText = (_: unknown, { React }: System) =>
  function PathText({ text }: { text: string }) {
    return React.createElement('span', null, text)
  }

/** Shows one operation with a form for what it takes. Who has given a token once need not do so again. */
export async function tryOperation(domNode: HTMLElement, method: string, path: string): Promise<void> {
  description ??= fetch('/openapi.json').then((answer) => answer.json())
  const { webhooks: _, ...whole } = (await description) as Description & { webhooks?: unknown }
  const before = newest
  const ui = SwaggerUI({
    domNode,
    spec: { ...whole, paths: { [path]: { [method]: whole.paths[path]?.[method] } } },
    docExpansion: 'full',
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
    withCredentials: true,
    plugins: [{ wrapComponents: { InfoContainer: nothing, DeepLink: pathText } }],
    onComplete: () => {
      if (before !== undefined) ui.authActions.authorize(before.authSelectors.authorized().toJS())
    },
  }) as Ui
  newest = ui
}
