//! nginx beside the front end: what a reverse proxy costs on the same machine, in the same minute.

use super::{Child, cpu_time, port};
use crate::BoxError;
use nix::unistd::Uid;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// One worker, keep-alive on both sides; one address that passes everything on, one that caches by path and body.
#[derive(Debug)]
pub struct Nginx {
    child: Child,
    /// Passes everything on.
    pub proxy: SocketAddr,
    /// Caches answers to `POST`, the body in the key.
    pub cache: SocketAddr,
}

impl Nginx {
    /// Whether it is installed.
    #[must_use]
    pub fn version() -> Option<String> {
        let asked = Command::new("nginx")
            .arg("-v")
            .stdin(Stdio::null())
            .output()
            .ok()?;
        let said = String::from_utf8(asked.stderr).ok()?;
        said.trim()
            .strip_prefix("nginx version: ")
            .map(str::to_owned)
    }

    /// Starts it in front of `upstream`, on CPU `cpu` alone.
    ///
    /// # Errors
    /// It does not come up.
    pub fn start(upstream: SocketAddr, cpu: usize) -> Result<Self, BoxError> {
        let folder = tempfile::tempdir()?;
        let (proxy, cache) = (port::free()?, port::free()?);
        let file = folder.path().join("nginx.conf");
        std::fs::write(&file, configuration(folder.path(), upstream, proxy, cache))?;
        let mut command = Command::new("nginx");
        command
            .arg("-p")
            .arg(folder.path())
            .arg("-e")
            .arg(folder.path().join("errors"))
            .arg("-c")
            .arg(file);
        let mut child = Child::start("nginx", command, Some(cpu), folder)?;
        child.wait_for(proxy)?;
        child.wait_for(cache)?;
        Ok(Self {
            child,
            proxy,
            cache,
        })
    }

    /// CPU time of all its processes so far.
    ///
    /// # Errors
    /// One of them has ended.
    pub fn cpu_time(&self) -> Result<Duration, BoxError> {
        let mut sum = cpu_time(self.child.id())?;
        for worker in self.child.children() {
            sum += cpu_time(worker)?;
        }
        Ok(sum)
    }
}

fn configuration(
    folder: &Path,
    upstream: SocketAddr,
    proxy: SocketAddr,
    cache: SocketAddr,
) -> String {
    let folder = folder.display();
    // Started by root its workers would be somebody else, who may not enter the folder.
    let user = if Uid::effective().is_root() {
        "user root;"
    } else {
        ""
    };
    format!(
        r#"{user}
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/errors error;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_body_in_single_buffer on;
    keepalive_requests 1000000000;
    proxy_cache_path {folder}/cache keys_zone=answers:16m;
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    upstream backend {{
        server {upstream};
        keepalive 128;
        keepalive_requests 1000000000;
    }}
    server {{
        listen {proxy};
        location / {{ proxy_pass http://backend; }}
    }}
    server {{
        listen {cache};
        location / {{
            proxy_pass http://backend;
            proxy_cache answers;
            proxy_cache_methods GET HEAD POST;
            proxy_cache_key "$request_uri $request_body";
            proxy_cache_valid 200 1h;
        }}
    }}
}}
"#
    )
}
