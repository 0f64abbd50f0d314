import type { IconName } from '../ui/icon.tsx';

export type NavItem = Readonly<{
  to:
    | '/'
    | '/fleet'
    | '/keys'
    | '/usage'
    | '/billing'
    | '/performance'
    | '/errors'
    | '/logs'
    | '/streams'
    | '/transactions'
    | '/upstreams'
    | '/playground'
    | '/team'
    | '/audit'
    | '/settings';
  title: string;
  icon: IconName;
  needs?: 'operator' | 'admin';
  first?: boolean;
}>;

export const navItems: readonly Readonly<{ title: string; navItems: readonly NavItem[] }>[] = [
  {
    title: 'Overview',
    navItems: [
      { to: '/', title: 'Home', icon: 'home', first: true },
      { to: '/fleet', title: 'All customers', icon: 'fleet', needs: 'operator' },
      { to: '/keys', title: 'API keys', icon: 'key', first: true },
      { to: '/playground', title: 'Playground', icon: 'play' },
    ],
  },
  {
    title: 'Traffic',
    navItems: [
      { to: '/usage', title: 'Usage and quota', icon: 'usage', first: true },
      { to: '/performance', title: 'Performance', icon: 'gauge' },
      { to: '/errors', title: 'Errors', icon: 'warning' },
      { to: '/logs', title: 'Logs', icon: 'logs', first: true },
      { to: '/streams', title: 'Streams', icon: 'streams' },
      { to: '/transactions', title: 'Transactions', icon: 'transaction' },
    ],
  },
  {
    title: 'Administration',
    navItems: [
      { to: '/upstreams', title: 'Upstreams', icon: 'nodes', needs: 'operator' },
      { to: '/billing', title: 'Billing', icon: 'receipt' },
      { to: '/team', title: 'Team', icon: 'team' },
      { to: '/audit', title: 'Audit log', icon: 'audit', needs: 'admin' },
      { to: '/settings', title: 'Settings', icon: 'settings' },
    ],
  },
];
