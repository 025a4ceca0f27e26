/// <reference types="vite/client" />

/** What components read from the theme, in both looks (console/static-theme.ts). */
declare module 'virtual:antd-tokens' {
  export const tokens: Record<'light' | 'dark', Record<string, string | number | boolean>>
}
