// Of Apple's Network framework, what tells whether a network is metered.
#pragma once

// Objects of C, as Foundation here is no other than this folder's.
#define OS_OBJECT_USE_OBJC 0
#include <dispatch/dispatch.h>

extern "C" {

typedef struct nw_path *nw_path_t;
typedef struct nw_path_monitor *nw_path_monitor_t;
typedef enum { nw_path_status_invalid, nw_path_status_satisfied } nw_path_status_t;
typedef void (^nw_path_monitor_update_handler_t)(nw_path_t path);

nw_path_monitor_t nw_path_monitor_create(void);
void nw_path_monitor_set_queue(nw_path_monitor_t monitor, dispatch_queue_t queue);
void nw_path_monitor_set_update_handler(nw_path_monitor_t monitor, nw_path_monitor_update_handler_t handler);
void nw_path_monitor_start(nw_path_monitor_t monitor);
void nw_path_monitor_cancel(nw_path_monitor_t monitor);
nw_path_status_t nw_path_get_status(nw_path_t path);
bool nw_path_is_expensive(nw_path_t path);
bool nw_path_is_constrained(nw_path_t path);
}
