/// <reference types="vite/client" />

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export default function SwaggerUI(options: Record<string, unknown>): unknown
}

/** What components read from the theme, in both looks (console/static-theme.ts). */
declare module 'virtual:antd-tokens' {
  export const tokens: Record<'light' | 'dark', Record<string, string | number | boolean>>
}
