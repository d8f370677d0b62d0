// SPDX-License-Identifier: GPL-2.0-or-later
/** `?report=ID`: the address of a class's report, for the browser that started the class. Pure. */

const ident = /^[\w-]{1,64}$/;

export function reportIn(search: string): string | null {
  const id = new URLSearchParams(search).get('report');
  return id !== null && ident.test(id) ? id : null;
}

/** The address is relative to the page's folder. */
export function reportHref(classId: string): string {
  return `?${new URLSearchParams({ report: classId })}`;
}
