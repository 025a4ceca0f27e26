import { resolve } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressed } from './compress.ts'
import { guides } from './guides.ts'
import { usedStyles } from './used-styles.ts'

const here = import.meta.dirname

export default defineConfig({
  root: here,
  base: '/console/',
  plugins: [react(), guides(), usedStyles(), compressed()],
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
    rollupOptions: { input: { index: resolve(here, 'index.html'), reference: resolve(here, 'src', 'reference.ts') } },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8080', '/openapi.json': 'http://127.0.0.1:8080' } },
})
