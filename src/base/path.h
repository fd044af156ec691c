/* path.h - paths as texts, without looking at what is there. */
#ifndef PAWL_PATH_H
#define PAWL_PATH_H

/* Removes "." and "name/.." from a path, in place: one file has one name, links aside. Where nothing is left it is
 * "."; ".." stays where it leads out of a relative path, and goes at the root. */
void path_tidy(char *path);

#endif
