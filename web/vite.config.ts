import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { compressAssets } from './compress-assets.ts';
import { docsPages } from './docs-pages.ts';

export default defineConfig({
  plugins: [react(), docsPages(), compressAssets()],
  build: {
    target: 'es2023',
    rolldownOptions: { input: ['dashboard.html', 'docs.html'] },
    modulePreload: { polyfill: false },
    // The Content Security Policy forbids data: URLs.
    assetsInlineLimit: 0,
  },
  server: {
    proxy: { '/api': 'http://127.0.0.1:8899', '/v1': { target: 'http://127.0.0.1:8899', ws: true } },
  },
});
