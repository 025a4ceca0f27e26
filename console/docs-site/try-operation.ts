import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './try-operation.css'

// The request goes from here to this service, with a token that the reader enters or with the console's session.

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

/** The path of an operation without a link, because it is inside the button that opens the operation. */
const pathText = (_: unknown, { React }: System) =>
  function PathText({ text }: { text: string }) {
    return React.createElement('span', null, text)
  }

/** Shows one operation with a form for its input. A token is kept once it has been entered. */
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
