import { describe, expect, it } from 'vitest';
import { failures } from '../../src/protocol/errors.ts';
import { failuresOf } from '../../src/rest-api/endpoint.ts';
import { openApi } from '../../src/rest-api/openapi.ts';
import { endpoints } from '../../src/rest-api/registry.ts';
import { type ApiDocument, referencePage } from '../../src/servers/reference/page.ts';

const document = openApi(endpoints, '1.2.3') as ApiDocument;

describe('endpoint failures', () => {
  it('are listed with their status in OpenAPI and docs', () => {
    const page = referencePage(document, 'http://localhost');
    for (const endpoint of endpoints) {
      const operation = document.paths[endpoint.paths[0]]?.[endpoint.verb.toLowerCase()];
      const section = page.split(`<section id="${operation?.operationId}">`)[1]?.split('</section>')[0];
      for (const code of failuresOf(endpoint)) {
        expect(operation?.responses[failures[code].http]?.description).toContain(`${code}: `);
        expect(section).toContain(`${code}: `);
      }
    }
  });
});
