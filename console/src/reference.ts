import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './reference.css'

// The API reference: the service's own description, with a way to try each operation. What is tried is sent from here to
// this service, with a token that one enters or with the session of the console.

interface AboutProps {
  specSelectors: { info(): { get(member: string): string } }
  getComponent(name: string, isContainer: boolean): unknown
}
interface System {
  React: { createElement(type: unknown, props: object | null, ...children: unknown[]): unknown }
}

/** What the description says of itself, without a second heading of the page. */
const about = (_: unknown, { React }: System) =>
  function About({ specSelectors, getComponent }: AboutProps) {
    const Markdown = getComponent('Markdown', true)
    return React.createElement('div', { className: 'info' }, [
      React.createElement(Markdown, { key: 'description', source: specSelectors.info().get('description') }),
      React.createElement('a', { key: 'source', href: '/openapi.json' }, '/openapi.json'),
    ])
  }

/** An operation's path without a link, because it stands in the button that opens the operation. */
const pathText = (_: unknown, { React }: System) =>
  function PathText({ text }: { text: string }) {
    return React.createElement('span', null, text)
  }

SwaggerUI({
  domNode: document.getElementById('reference'),
  url: '/openapi.json',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: false,
  persistAuthorization: false,
  validatorUrl: null,
  withCredentials: true,
  plugins: [{ wrapComponents: { InfoContainer: about, DeepLink: pathText } }],
})
