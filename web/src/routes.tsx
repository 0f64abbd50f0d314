import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  retainSearchParams,
} from '@tanstack/react-router';
import { readFrameSearch } from './range.ts';
import { Frame } from './shell/frame.tsx';
import { ErrorPage, NotFoundPage } from './shell/no-page.tsx';
import { Skeleton } from './ui/skeleton.tsx';
import { ToastArea } from './ui/toast.tsx';

const root = createRootRoute({
  component: () => (
    <ToastArea>
      <Outlet />
    </ToastArea>
  ),
  notFoundComponent: NotFoundPage,
  errorComponent: ErrorPage,
});

const frame = createRoute({
  getParentRoute: () => root,
  id: 'frame',
  component: Frame,
  validateSearch: readFrameSearch,
  search: { middlewares: [retainSearchParams(['customer', 'key', 'range', 'from', 'to'])] },
});

/** Other search fields belong to individual pages and are kept. */
const inFrame = { getParentRoute: () => frame } as const;
const withFields = {
  ...inFrame,
  validateSearch: (search: Record<string, unknown>): Record<string, unknown> => search,
} as const;

const framed = [
  createRoute({
    ...inFrame,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/home/home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    ...withFields,
    path: '/fleet',
    component: lazyRouteComponent(() => import('./pages/fleet/fleet-page.tsx'), 'FleetPage'),
  }),
  createRoute({
    ...inFrame,
    path: '/keys',
    component: lazyRouteComponent(() => import('./pages/keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    ...inFrame,
    path: '/keys/$key',
    component: lazyRouteComponent(() => import('./pages/key/key-page.tsx'), 'KeyPage'),
  }),
  createRoute({
    ...withFields,
    path: '/usage',
    component: lazyRouteComponent(() => import('./pages/usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    ...withFields,
    path: '/billing',
    component: lazyRouteComponent(() => import('./pages/billing/billing-page.tsx'), 'BillingPage'),
  }),
  createRoute({
    ...withFields,
    path: '/performance',
    component: lazyRouteComponent(
      () => import('./pages/performance/performance-page.tsx'),
      'PerformancePage',
    ),
  }),
  createRoute({
    ...withFields,
    path: '/errors',
    component: lazyRouteComponent(() => import('./pages/errors/errors-page.tsx'), 'ErrorsPage'),
  }),
  createRoute({
    ...withFields,
    path: '/logs',
    component: lazyRouteComponent(() => import('./pages/logs/logs-page.tsx'), 'LogsPage'),
  }),
  createRoute({
    ...withFields,
    path: '/streams',
    component: lazyRouteComponent(() => import('./pages/streams/streams-page.tsx'), 'StreamsPage'),
  }),
  createRoute({
    ...withFields,
    path: '/transactions',
    component: lazyRouteComponent(
      () => import('./pages/transactions/transactions-page.tsx'),
      'TransactionsPage',
    ),
  }),
  createRoute({
    ...inFrame,
    path: '/upstreams',
    component: lazyRouteComponent(() => import('./pages/upstreams/upstreams-page.tsx'), 'UpstreamsPage'),
  }),
  createRoute({
    ...inFrame,
    path: '/upstreams/$node',
    component: lazyRouteComponent(() => import('./pages/node/node-page.tsx'), 'NodePage'),
  }),
  createRoute({
    ...withFields,
    path: '/playground',
    component: lazyRouteComponent(() => import('./pages/playground/playground-page.tsx'), 'PlaygroundPage'),
  }),
  createRoute({
    ...inFrame,
    path: '/team',
    component: lazyRouteComponent(() => import('./pages/team/team-page.tsx'), 'TeamPage'),
  }),
  createRoute({
    ...withFields,
    path: '/audit',
    component: lazyRouteComponent(() => import('./pages/audit/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...withFields,
    path: '/settings',
    component: lazyRouteComponent(() => import('./pages/settings/settings-page.tsx'), 'SettingsPage'),
  }),
] as const;

/** Allows only local paths, to prevent open redirects. */
const readNext = (search: Record<string, unknown>): { next?: string; error?: string } => ({
  ...(typeof search.next === 'string' && /^\/(?![/\\])/.test(search.next) ? { next: search.next } : {}),
  ...(typeof search.error === 'string' ? { error: search.error } : {}),
});

/** Pages that need no account. */
const publicRoutes = [
  createRoute({
    getParentRoute: () => root,
    path: '/sign-in',
    validateSearch: readNext,
    component: lazyRouteComponent(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sign-up',
    component: lazyRouteComponent(() => import('./pages/sign-in/sign-up-page.tsx'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/reset-password',
    component: lazyRouteComponent(() => import('./pages/sign-in/reset-page.tsx'), 'ResetPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/setup',
    component: lazyRouteComponent(() => import('./pages/sign-in/invitation-page.tsx'), 'SetupPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/invite',
    component: lazyRouteComponent(() => import('./pages/sign-in/invitation-page.tsx'), 'InvitePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/usage-link',
    component: lazyRouteComponent(() => import('./pages/usage/usage-link-page.tsx'), 'UsageLinkPage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren([frame.addChildren(framed), ...publicRoutes]),
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingComponent: Skeleton,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
