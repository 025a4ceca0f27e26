import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './reference.css'

// The API reference: the service's own description, with a way to try each operation. What is tried is sent from here to
// this service, with a token that one enters or with the session of the console.
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
})
