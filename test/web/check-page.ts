import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { seriousFaults } from './axe.ts';
import { settled } from './browser.ts';

const WIDE = { width: 1360, height: 900 };
const PHONE = { width: 390, height: 844 };

/** The contrast of a color cannot be measured during its transition to another theme. */
const END_ANIMATIONS = `
  for (const one of document.getAnimations()) if (one.effect.getComputedTiming().endTime < Infinity) one.finish()`;

/** How many tables of keys and nodes scroll sideways; null: the page has none. */
const WIDE_TABLES = `(() => {
  const captions = [...document.querySelectorAll('caption')];
  const named = captions.filter((one) => ['API keys', 'Nodes'].includes(one.textContent));
  const frames = named.map((one) => one.closest('section'));
  return frames.length === 0 ? null : frames.filter((one) => one.scrollWidth > one.clientWidth).length;
})()`;

/** Checks with axe that a page is accessible in both themes, and that it does not scroll sideways on a phone. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await settled(page);
  await page.evaluate(END_ANIMATIONS);
  expect(await seriousFaults(page), name).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await page.evaluate(END_ANIMATIONS);
  expect(await seriousFaults(page, ['color-contrast']), `${name}, dark`).toEqual([]);
  await page.setViewportSize(PHONE);
  const widest = await page.evaluate('document.documentElement.scrollWidth');
  const wideTables = await page.evaluate(WIDE_TABLES);
  const stackedFaults = wideTables === null ? [] : await seriousFaults(page);
  await page.setViewportSize(WIDE);
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null });
  expect([wideTables ?? 0, stackedFaults], `${name} on a phone`).toEqual([0, []]);
  expect(widest, `${name} on a phone scrolls sideways`).toBeLessThanOrEqual(PHONE.width);
}
