import type { NavItem } from './navigation.ts';

/** Page of the docs that explains each page of the dashboard. */
const docsLinks: Readonly<Record<NavItem['to'], string>> = {
  '/': '/docs',
  '/fleet': '/docs/reference/usage',
  '/keys': '/docs/reference/keys',
  '/usage': '/docs/reference/usage',
  '/performance': '/docs/explanation/request-flow',
  '/errors': '/docs/reference/errors',
  '/logs': '/docs/how-to/troubleshoot',
  '/streams': '/docs/explanation/streams',
  '/transactions': '/docs/reference/json-rpc',
  '/upstreams': '/docs/reference/nodes',
  '/playground': '/docs/tutorial/first-call',
  '/team': '/docs/reference/accounts',
  '/billing': '/docs/how-to/billing',
  '/audit': '/docs/reference/accounts',
  '/settings': '/docs/reference/configuration',
};

/** @param path - of a page of the dashboard, such as `/keys/7hQ2mKpZ`. */
export const docsLinkOf = (path: string): string =>
  docsLinks[`/${path.split('/')[1] ?? ''}` as NavItem['to']] ?? '/docs';
