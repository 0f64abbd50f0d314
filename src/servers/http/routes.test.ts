import { describe, expect, it } from 'vitest';
import { findVerbs, type HttpHandler, type HttpRoutes, joinRoutes, pathNotFound } from './routes.ts';

const verbs = (): ReadonlyMap<string, HttpHandler> => new Map([['GET', () => {}]]);
const files = verbs();
const own = verbs();
const routes: HttpRoutes = joinRoutes(new Map([['/ipfs/*', files]]), new Map([['/ipfs/own', own]]));

describe('a path pattern that ends in /*', () => {
  it.each(['/ipfs/a', '/ipfs/*', '/ipfs/%2e%2e', '/ipfs/..'])('matches %s', (path) => {
    expect(findVerbs(routes, path, 'GET')).toBe(files);
  });

  it.each(['/ipfs', '/ipfs/', '/ipfs/a/b', '/ipfs/a/', '/x/ipfs/a', '/', '', 'ipfs/a', '/ipfsx/a'])(
    'does not match %s',
    (path) => {
      expect(findVerbs(routes, path, 'GET')).toBeUndefined();
    },
  );

  it('yields to an exact path', () => {
    expect(findVerbs(routes, '/ipfs/own', 'GET')).toBe(own);
  });

  it('appears in the paths of a NOT_FOUND failure', () => {
    expect(pathNotFound(routes).facts).toEqual({ paths: '/ipfs/*, /ipfs/own' });
  });
});

describe('a path pattern that ends in /**', () => {
  const api: ReadonlyMap<string, HttpHandler> = new Map([
    ['GET', () => {}],
    ['POST', () => {}],
  ]);
  const pages = verbs();
  const joined = joinRoutes(routes, new Map([['/api/**', api]]), new Map([['/**', pages]]));

  it.each(['/api/', '/api/a', '/api/a/b', '/api/a/', '/api//', '/api/**', '/api/%2e%2e/x'])(
    'matches %s',
    (path) => {
      expect(findVerbs(joined, path, 'POST')).toBe(api);
    },
  );

  it.each(['/', '/index.html', '/api', '/apix/a', '/x/api/a', '/ipfs/a/b', '/ipfs/'])(
    'leaves %s to the shorter prefix',
    (path) => {
      expect(findVerbs(joined, path, 'GET')).toBe(pages);
    },
  );

  it('does not match other verbs', () => {
    expect(findVerbs(joined, '/nothing', 'POST')).toBeUndefined();
    expect(findVerbs(joined, '/api/a', 'PATCH')).toBeUndefined();
  });

  it('matches HEAD where it matches GET', () => {
    expect(findVerbs(joined, '/nothing', 'HEAD')).toBe(pages);
  });

  it('yields to exact paths and /* patterns', () => {
    expect(findVerbs(joined, '/ipfs/own', 'POST')).toBe(own);
    expect(findVerbs(joined, '/ipfs/a', 'GET')).toBe(files);
  });

  it('matches a path of very many segments quickly', () => {
    expect(findVerbs(joined, `/api${'/a'.repeat(8_000)}`, 'GET')).toBe(api);
  });
});
