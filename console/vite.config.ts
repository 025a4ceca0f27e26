import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { componentStyles } from './component-styles.ts'
import { compressed } from './compress.ts'
import { guides } from './docs-site/guides.ts'
import { pagePreloads } from './page-preloads.ts'
import { slimContracts } from './slim-contracts.ts'
import { staticTheme } from './static-theme.ts'

const here = import.meta.dirname

/** What many pages have is in few files: each file costs a way to the service and back. */
const groups = [
  // The documents' pages load this too, so it may be in no file that draws the console.
  { name: 'load', test: /vite\/preload-helper|console\/src\/browser\/(composing|copying|signal)\.ts$/, priority: 6 },
  // It runs before the frame is loaded.
  {
    name: 'boot',
    test: /console\/src\/(boot|api\/early|browser\/(next-task|shade|storage)|language\/first)\.ts$/,
    priority: 5,
  },
  { name: 'react', test: /node_modules\/(react|react-dom|scheduler)\/|console\/src\/react\.ts$/, priority: 4.5 },
  {
    name: 'frame',
    test: /console\/src\/(frame\/(shell|signed-in)|ui\/(table\/rows|page\/(page|button|loading|logo)|text\/(status|application-name|actor)))\.tsx?$|antd\/es\/(config-provider\/hooks\/useCSSVarCls|_util\/motion)\.js$/,
    priority: 4,
  },
  // Notices, fields and empty lists have these. In the file of one, they would bring that file with the others.
  {
    name: 'small',
    test: /@ant-design\/fast-color|console\/src\/ui\/page\/segments\.tsx|icons(-svg)?\/es\/(icons|asn)\/(Close|CheckCircle|CloseCircle|ExclamationCircle|InfoCircle|Plus|ClockCircle)(Outlined|Filled)/,
    priority: 3.9,
  },
  { name: 'popups', test: /@rc-component\/trigger\/es\/index\.js$/, priority: 3.6 },
  { name: 'input', test: /antd\/es\/input\/index\.js$/, priority: 3 },
  { name: 'form', test: /antd\/es\/form\/index\.js$/, priority: 2 },
  {
    name: 'lists',
    test: /console\/src\/(ui\/(table\/records|filter\/filters)|views\/filter-bar)\.tsx$/,
    priority: 1,
  },
  // Small files that several pages have, by the pages that are opened most.
  { name: 'contracts', test: /\/src\/(?!people\/|.*\/src\/).*contract\.ts$/, priority: 0.9 },
  { name: 'alert', test: /console\/src\/ui\/page\/refusal-alert\.tsx$/, priority: 0.8 },
  {
    name: 'registry',
    test: /console\/src\/(acts\/(texts|all-that-match)|ui\/(table\/selection|form\/hindered-button)|placements\/(texts|parts)|regions\/(texts|cascader)|devices\/(texts|parts|last-report)|sites\/(texts|show)|pricing\/rule-picker|words\/fields|prices\/(texts|waiting))\.tsx?$/,
    priority: 0.7,
  },
  {
    name: 'history',
    test: /console\/src\/(events\/(subject-link|texts)|words\/(subject|type-words|attempt-words))\.tsx?$/,
    priority: 0.6,
  },
  {
    name: 'health',
    test: /console\/src\/(deliveries\/(filter|texts|missed)|service\/sentences|overview\/texts|words\/(counts|job-failure-words)|ui\/text\/(bytes|figure))\.tsx?$/,
    priority: 0.5,
  },
  {
    name: 'sign-in',
    test: /console\/src\/(account\/(passkeys|came-back|recovery|texts|code-field|proof-fault|sign-on)|sign-in\/(texts|frame|sign-on-button))\.tsx?$/,
    priority: 0.4,
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
        reference: resolve(here, 'docs-site', 'reference.ts'),
        documents: resolve(here, 'docs-site', 'documents.ts'),
      },
      output: { codeSplitting: { groups } },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/openapi.json': 'http://127.0.0.1:8080' } },
})
