import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { componentStyles } from './component-styles.ts'
import { compressed } from './compress.ts'
import { guides } from './guides.ts'
import { pagePreloads } from './page-preloads.ts'
import { slimContracts } from './slim-contracts.ts'
import { staticTheme } from './static-theme.ts'

const here = import.meta.dirname

/** What many pages have is in few files: each file costs a way to the service and back. */
const groups = [
  // The documents' pages load this too, so it may be in no file that draws the console.
  { name: 'load', test: /vite\/preload-helper/, priority: 6 },
  // It runs before the frame is loaded.
  { name: 'boot', test: /console\/src\/(boot|early|shade|language\/first)\.ts$/, priority: 5 },
  {
    name: 'frame',
    test: /console\/src\/(shell|ui\/(page|rows|status|link-button|loading|application-name|actor))\.tsx?$|antd\/es\/(config-provider\/hooks\/useCSSVarCls|_util\/motion)\.js$/,
    priority: 4,
  },
  // Notices, fields and tabs have them. In the file of one, they would bring that file with the others.
  {
    name: 'icons',
    test: /icons(-svg)?\/es\/(icons|asn)\/(Close|CheckCircle|CloseCircle|ExclamationCircle|InfoCircle)(Outlined|Filled)/,
    priority: 3.9,
  },
  // The picture of an empty list computes with colours, as fields do.
  { name: 'colors', test: /@ant-design\/fast-color/, priority: 3.8 },
  { name: 'plus', test: /icons\/PlusOutlined/, priority: 3.7 },
  // Before 'input', so that a page with tabs does not wait for the code of its fields.
  { name: 'tabs', test: /antd\/es\/tabs\/index\.js$/, priority: 3.5 },
  { name: 'input', test: /antd\/es\/input\/index\.js$/, priority: 3 },
  { name: 'form', test: /antd\/es\/form\/index\.js$/, priority: 2 },
  {
    name: 'lists',
    test: /console\/src\/ui\/(records|filters|application-picker)\.tsx$|\/src\/(sites|devices|device-ownership|billing-rules|regions|deliveries)\/contract\.ts$/,
    priority: 1,
  },
]

export default defineConfig({
  root: here,
  base: '/console/',
  plugins: [react(), slimContracts(), guides(), staticTheme(), componentStyles(), pagePreloads(), compressed()],
  resolve: {
    alias: {
      // The console calls operations by their paths; only the service checks their schemas.
      typebox: resolve(here, 'src', 'schemaless.ts'),
    },
  },
  build: {
    target: 'es2022',
    // Its files are served with names that change with their content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: {
        index: resolve(here, 'index.html'),
        reference: resolve(here, 'src', 'reference.ts'),
        documents: resolve(here, 'src', 'documents.ts'),
      },
      output: { codeSplitting: { groups } },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/openapi.json': 'http://127.0.0.1:8080' } },
})
